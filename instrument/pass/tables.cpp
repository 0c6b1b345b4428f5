// The tables of abi.h as constants of the object, and a constructor that hands them to the runtime.
#include "instrument/pass/globals.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace kcheck::instrument {

namespace {

/// Builds records whose LLVM type is derived from their fields in order; abi.h has natural alignment
/// throughout.
class TableWriter {
public:
  explicit TableWriter(llvm::Module& module) : module(module), context(module.getContext()) {}

  llvm::Constant* integer(unsigned bits, std::uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value);
  }
  llvm::Constant* word(std::uint64_t value) { return integer(32, value); }
  llvm::Constant* null() { return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0)); }
  llvm::Constant* text(const std::string& value) {
    auto [slot, isNew] = texts.try_emplace(value, nullptr);
    if (isNew) slot->second = hostText(module, value);
    return slot->second;
  }
  llvm::Constant* record(std::initializer_list<llvm::Constant*> fields, std::size_t size) {
    auto* value = llvm::ConstantStruct::getAnon(
        context, llvm::ArrayRef<llvm::Constant*>(fields.begin(), fields.size()));
    assert(module.getDataLayout().getTypeAllocSize(value->getType()) == size && "the record matches abi.h");
    (void)size;
    return value;
  }
  llvm::Constant* array(const std::vector<llvm::Constant*>& rows) {
    if (rows.empty()) return null();
    return variable(
        llvm::ConstantArray::get(llvm::ArrayType::get(rows.front()->getType(), rows.size()), rows));
  }
  llvm::GlobalVariable* variable(llvm::Constant* value) {
    return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value,
                                    "kcheck.text.table");
  }

private:
  llvm::Module& module;
  llvm::LLVMContext& context;
  std::map<std::string, llvm::Constant*> texts;
};

llvm::Constant* kernelRow(TableWriter& write, const DeviceCode& code, const KernelCode& kernel) {
  std::vector<llvm::Constant*> parameters, shared, written, arrays;
  for (std::uint32_t offset : kernel.written) written.push_back(write.word(offset));
  for (std::uint32_t offset : kernel.arrays) arrays.push_back(write.word(offset));
  for (const abi::ParameterInfo& parameter : kernel.parameters)
    parameters.push_back(write.record({write.word(parameter.offset), write.word(parameter.bytes)},
                                      sizeof(abi::ParameterInfo)));
  for (const PlacedShared& placed : kernel.shared)
    shared.push_back(write.record({write.text(placed.name), write.word(placed.offset),
                                   write.word(placed.bytes), write.word(placed.align), write.word(0)},
                                  sizeof(abi::SharedVariable)));
  const Kernel* facts = code.facts.kernel(kernel.symbol);
  return write.record({write.text(kernel.symbol),
                       write.text(facts ? facts->name : kernel.symbol),
                       kernel.entry,
                       write.array(parameters),
                       write.word(kernel.parameters.size()),
                       write.word(kernel.argumentBytes),
                       write.array(shared),
                       write.word(kernel.shared.size()),
                       write.word(kernel.sharedBytes),
                       write.word(kernel.declaredSharedBytes),
                       write.word(std::uint32_t(kernel.suspension)),
                       write.word(kernel.traits),
                       write.word(kernel.maxThreads),
                       write.text(facts ? facts->where.file : ""),
                       write.word(facts ? facts->where.line : 0),
                       write.word(kernel.written.size()),
                       write.array(written),
                       kernel.distances ? kernel.distances : write.null(),
                       write.integer(64, kernel.distanceCount),
                       write.array(arrays),
                       write.integer(64, kernel.arrays.size())},
                      sizeof(abi::KernelEntry));
}

llvm::Constant* globalRow(TableWriter& write, const GlobalCode& global) {
  return write.record({write.text(global.name), write.integer(64, global.bytes), write.word(global.align),
                       write.integer(8, std::uint8_t(global.space)), write.integer(8, global.isManaged),
                       write.integer(8, global.zeroInitialised), write.integer(8, 0), global.slot},
                      sizeof(abi::GlobalEntry));
}

llvm::Constant* siteRow(TableWriter& write, const SiteRow& site) {
  return write.record({write.integer(8, std::uint8_t(site.kind)), write.integer(8, site.space),
                       write.integer(16, site.flags), write.word(site.bytes), write.text(site.file),
                       write.word(site.line), write.word(site.column), write.word(site.origin),
                       write.word(site.usedWords)},
                      sizeof(abi::SiteInfo));
}

llvm::Constant* segmentRow(TableWriter& write, const abi::LogSegment& segment) {
  return write.record({write.word(segment.first), write.word(segment.count), write.word(segment.rows),
                       write.word(segment.loopEnd)},
                      sizeof(abi::LogSegment));
}

llvm::Constant* accessRow(TableWriter& write, const abi::LoggedAccess& access) {
  return write.record({write.integer(8, std::uint8_t(access.kind)), write.integer(8, access.bytes),
                       write.integer(16, access.row), write.integer(16, access.content),
                       write.integer(16, access.distance), write.word(std::uint32_t(access.offset)),
                       write.word(access.site), write.integer(16, access.order),
                       write.integer(16, access.array)},
                      sizeof(abi::LoggedAccess));
}

} // namespace

void writeTables(DeviceCode& code) {
  TableWriter write(code.module);
  std::vector<llvm::Constant*> kernels, globals, sites, segments, accesses, callees;
  for (llvm::Function& function : code.module)
    if (!function.isDeclaration() && function.hasAddressTaken()) callees.push_back(&function);
  for (const KernelCode& kernel : code.kernels) kernels.push_back(kernelRow(write, code, kernel));
  for (const GlobalCode& global : code.globals) globals.push_back(globalRow(write, global));
  for (const SiteRow& site : code.sites.all()) sites.push_back(siteRow(write, site));
  for (const abi::LogSegment& segment : code.segments) segments.push_back(segmentRow(write, segment));
  for (const abi::LoggedAccess& access : code.logged) accesses.push_back(accessRow(write, access));
  auto* entry = write.variable(write.record(
      {write.word(abi::kVersion), write.word(code.options.checks), write.array(kernels), write.array(globals),
       write.array(sites), write.word(kernels.size()), write.word(globals.size()), write.word(sites.size()),
       write.word(callees.size()), code.initialise, write.array(segments), write.array(accesses),
       write.word(segments.size()), write.word(accesses.size()), write.array(callees)},
      sizeof(abi::ModuleEntry)));

  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(code.module.getContext()), false);
  auto* start =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "kcheck.register", code.module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(code.module.getContext(), "entry", start));
  builder.CreateCall(runtimeCall(code.module, Call::kcRegisterModule), {entry});
  builder.CreateRetVoid();
  // Before any constructor of the program, which may launch kernels.
  llvm::appendToGlobalCtors(code.module, start, 101);
}

} // namespace kcheck::instrument
