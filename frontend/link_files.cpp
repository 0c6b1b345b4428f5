// Device linking. Modules come from compilations of their own, each in a context of its own, so they travel
// as bitcode.
#include "frontend/link_files.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/Path.h>

#include <map>
#include <set>
#include <string>

namespace kcheck::frontend {
namespace {

constexpr const char* kSiteKinds[] = {kSiteMetadata, kSourceSiteMetadata};

std::uint32_t numberIn(const llvm::MDNode& node) {
  return std::uint32_t(llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(0))->getZExtValue());
}

template <typename Number> void renumber(llvm::Module& module, Number number) {
  llvm::LLVMContext& context = module.getContext();
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      for (const char* kind : kSiteKinds)
        if (const llvm::MDNode* node = instruction.getMetadata(kind)) {
          auto* id = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), number(numberIn(*node)));
          instruction.setMetadata(kind, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(id)));
        }
}

/// Sites of functions that linking dropped (inline functions that several files have) leave the list.
void compactSites(llvm::Module& module, std::vector<Site>& sites) {
  std::vector<SiteId> renamed(sites.size(), kNoSite);
  std::vector<Site> kept;
  renumber(module, [&](SiteId old) {
    if (renamed[old] == kNoSite) {
      renamed[old] = SiteId(kept.size());
      kept.push_back(std::move(sites[old]));
      kept.back().id = renamed[old];
    }
    return renamed[old];
  });
  sites = std::move(kept);
}

std::unique_ptr<llvm::Module> carryOver(const llvm::Module& module, llvm::LLVMContext& context) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode.data(), bitcode.size()), module.getName());
  llvm::Expected<std::unique_ptr<llvm::Module>> copy = llvm::parseBitcodeFile(buffer, context);
  assert(copy && "bitcode that was just written");
  return std::move(*copy);
}

std::string placeOf(const llvm::GlobalValue& value) {
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&value); function && function->getSubprogram())
    return fmt::format("{}:{}", function->getSubprogram()->getFilename().str(),
                       function->getSubprogram()->getLine());
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> infos;
    variable->getDebugInfo(infos);
    if (!infos.empty())
      return fmt::format("{}:{}", infos[0]->getVariable()->getFilename().str(),
                         infos[0]->getVariable()->getLine());
  }
  return value.getParent()->getName().str();
}

std::string nameOf(const llvm::GlobalValue& value, const std::vector<Kernel>& kernels) {
  for (const Kernel& kernel : kernels)
    if (kernel.symbol == value.getName()) return "kernel " + kernel.name;
  return std::string(llvm::isa<llvm::Function>(value) ? "device function " : "device variable ") +
         llvm::demangle(value.getName().str());
}

/// What `a` and `b` both define, when a linker must refuse that.
std::optional<Error> duplicate(const llvm::Module& a, const llvm::Module& b,
                               const std::vector<Kernel>& kernels) {
  for (const llvm::GlobalValue& there : b.global_values()) {
    const llvm::GlobalValue* here = a.getNamedValue(there.getName());
    if (!here || !here->isStrongDefinitionForLinker() || !there.isStrongDefinitionForLinker() ||
        here->hasLocalLinkage() || there.hasLocalLinkage() || here->hasAppendingLinkage())
      continue;
    return Error{fmt::format("{} is defined twice, at {} and at {}: rename one or make it static",
                             nameOf(there, kernels), placeOf(*here), placeOf(there))};
  }
  return std::nullopt;
}

class LinkMessages : public llvm::DiagnosticHandler {
public:
  explicit LinkMessages(std::string& text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

private:
  std::string& text;
};

void addKernels(std::vector<Kernel>& all, std::vector<Kernel> more) {
  for (Kernel& kernel : more) {
    const bool known = llvm::any_of(all, [&](const Kernel& other) { return other.symbol == kernel.symbol; });
    if (!known) all.push_back(std::move(kernel)); // instances of templates and inline kernels repeat
  }
}

/// Files may each have a kernel of one name, by `static` or a namespace of their own.
void nameByFile(std::vector<Kernel>& kernels) {
  std::map<std::string, std::vector<Kernel*>> byName;
  for (Kernel& kernel : kernels) byName[kernel.name].push_back(&kernel);
  for (auto& [name, alike] : byName) {
    std::set<std::string> paths, files; // files: without their folders, where that tells them apart
    for (const Kernel* kernel : alike) {
      paths.insert(kernel->where.file);
      files.insert(llvm::sys::path::filename(kernel->where.file).str());
    }
    if (paths.size() < 2) continue;
    for (Kernel* kernel : alike)
      kernel->name +=
          " in " + (files.size() == paths.size() ? llvm::sys::path::filename(kernel->where.file).str()
                                                 : kernel->where.file);
  }
}

} // namespace

OrError<std::monostate> linkDevice(std::vector<DeviceSide> sides, Program& program) {
  assert(!sides.empty());
  program.context = std::move(sides[0].context);
  program.device = std::move(sides[0].module);
  program.facts.kernels = std::move(sides[0].kernels);
  program.facts.sites = std::move(sides[0].sites);
  for (std::size_t i = 1; i < sides.size(); ++i) {
    std::unique_ptr<llvm::Module> module = carryOver(*sides[i].module, *program.context);
    const SiteId base = SiteId(program.facts.sites.size());
    renumber(*module, [&](SiteId old) { return old + base; });
    for (Site& site : sides[i].sites) program.facts.sites.push_back(std::move(site));
    if (auto error = duplicate(*program.device, *module, sides[i].kernels)) return *error;
    addKernels(program.facts.kernels, std::move(sides[i].kernels));
    std::string messages;
    auto before = program.context->getDiagnosticHandler(); // LLVM's passes need one
    program.context->setDiagnosticHandler(std::make_unique<LinkMessages>(messages));
    const bool failed = llvm::Linker::linkModules(*program.device, std::move(module));
    program.context->setDiagnosticHandler(std::move(before));
    if (failed) return Error{fmt::format("the device code of the files does not link: {}", messages)};
  }
  compactSites(*program.device, program.facts.sites);
  if (sides.size() > 1) nameByFile(program.facts.kernels);
  return std::monostate{};
}

} // namespace kcheck::frontend
