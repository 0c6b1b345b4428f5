// From NVPTX to x86-64: every function gets its thread as hidden first parameter, all pointers live in one
// address space, shared variables become places in the block's window, device variables are reached through
// slots, and special registers are fields of the thread's context.
#include "instrument/pass/globals.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/registers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

#include <cstddef>

namespace kcheck::instrument {

namespace {

constexpr const char* kHostLayout =
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
constexpr const char* kHostTriple = "x86_64-pc-linux-gnu";

/// `type` with every pointer in address space 0.
llvm::Type* flat(llvm::Type* type) {
  llvm::LLVMContext& context = type->getContext();
  if (type->isPointerTy()) return llvm::PointerType::get(context, 0);
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(flat(vector->getElementType()), vector->getNumElements());
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(flat(array->getElementType()), array->getNumElements());
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    std::vector<llvm::Type*> parts;
    bool changed = false;
    for (llvm::Type* part : record->elements()) {
      parts.push_back(flat(part));
      changed |= parts.back() != part;
    }
    return changed ? llvm::StructType::get(context, parts, record->isPacked()) : type;
  }
  return type;
}

llvm::FunctionType* withThread(llvm::FunctionType* type) {
  std::vector<llvm::Type*> parameters{llvm::PointerType::get(type->getContext(), 0)};
  for (llvm::Type* parameter : type->params()) parameters.push_back(flat(parameter));
  return llvm::FunctionType::get(flat(type->getReturnType()), parameters, type->isVarArg());
}

llvm::AttributeList shifted(llvm::LLVMContext& context, const llvm::AttributeList& old, unsigned count) {
  llvm::SmallVector<llvm::AttributeSet> parameters{llvm::AttributeSet()};
  for (unsigned i = 0; i < count; ++i) parameters.push_back(old.getParamAttrs(i));
  return llvm::AttributeList::get(context, old.getFnAttrs(), old.getRetAttrs(), parameters);
}

class Retarget {
public:
  explicit Retarget(DeviceCode& code) : code(code), module(code.module), slots(makeSlots(code)) {}

  void run() {
    expandConstants();
    std::vector<llvm::Function*> functions;
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) functions.push_back(&function);
    module.setTargetTriple(kHostTriple);
    module.setDataLayout(kHostLayout);
    for (llvm::Function*& function : functions)
      if (!isEntry(*function)) function = addThreadParameter(*function);
    for (llvm::Function* function : functions) rewrite(*function);
    dropVariables();
  }

private:
  DeviceCode& code;
  llvm::Module& module;
  std::map<const llvm::GlobalVariable*, llvm::GlobalVariable*> slots;
  std::set<llvm::Function*> threaded; ///< device functions, which take the hidden parameter

  bool isEntry(llvm::Function& function) {
    if (&function == code.initialise) return true;
    KernelCode* kernel = code.kernelOf(function);
    return kernel && kernel->entry == &function;
  }

  void expandConstants() {
    llvm::SmallVector<llvm::Constant*> variables;
    for (llvm::GlobalVariable& variable : module.globals())
      if (!isHostText(variable)) variables.push_back(&variable);
    llvm::convertUsersOfConstantsToInstructions(variables);
  }

  llvm::Function* addThreadParameter(llvm::Function& old) {
    auto* created =
        llvm::Function::Create(withThread(old.getFunctionType()), llvm::GlobalValue::InternalLinkage,
                               "kcheck.dev." + old.getName(), module);
    created->setAttributes(shifted(module.getContext(), old.getAttributes(), old.arg_size()));
    created->splice(created->begin(), &old);
    created->setSubprogram(old.getSubprogram());
    auto next = created->arg_begin() + 1;
    for (llvm::Argument& argument : old.args()) {
      argument.mutateType(next->getType());
      argument.replaceAllUsesWith(&*next++);
    }
    if (KernelCode* kernel = code.kernelOf(old)) kernel->body = created;
    old.setSubprogram(nullptr);
    old.replaceAllUsesWith(created);
    old.eraseFromParent();
    threaded.insert(created);
    return created;
  }

  void rewrite(llvm::Function& function) {
    // What is computed once stands before an anchor of its own: the first instruction may be erased.
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    llvm::Instruction* anchor = builder.CreateAlloca(builder.getInt8Ty(), nullptr, "anchor");
    builder.SetInsertPoint(anchor);
    std::map<std::string, llvm::Value*> registers;
    std::map<llvm::Value*, llvm::Value*> places;
    llvm::Value* thread = function.arg_empty() ? nullptr : function.getArg(0);
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
        if (instruction.getType() != flat(instruction.getType()))
          instruction.mutateType(flat(instruction.getType()));
        for (llvm::Use& use : instruction.operands()) rewriteOperand(use, builder, places, thread);
        rewriteInstruction(instruction, builder, registers, thread);
      }
    anchor->eraseFromParent();
  }

  void rewriteOperand(llvm::Use& use, llvm::IRBuilder<>& builder,
                      std::map<llvm::Value*, llvm::Value*>& places, llvm::Value* thread) {
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(use.get())) {
      if (!isHostText(*variable)) {
        llvm::Value*& place = places[variable];
        if (!place) place = placeOf(*variable, builder, thread);
        use.set(place);
      }
      return;
    }
    auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
    if (!constant || constant->getType() == flat(constant->getType())) {
      if (auto* cast = llvm::dyn_cast_or_null<llvm::ConstantExpr>(constant);
          cast && cast->getOpcode() == llvm::Instruction::AddrSpaceCast)
        use.set(flatConstant(*cast));
      return;
    }
    use.set(flatConstant(*constant));
  }

  /// A constant that names no variable, in address space 0.
  llvm::Constant* flatConstant(llvm::Constant& constant) {
    llvm::Type* type = flat(constant.getType());
    if (llvm::isa<llvm::PoisonValue>(constant)) return llvm::PoisonValue::get(type);
    if (llvm::isa<llvm::UndefValue>(constant)) return llvm::UndefValue::get(type);
    if (constant.isNullValue()) return llvm::Constant::getNullValue(type);
    if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant)) {
      auto* inner = llvm::cast<llvm::Constant>(expression->getOperand(0));
      if (expression->getOpcode() == llvm::Instruction::AddrSpaceCast) return flatConstant(*inner);
      if (expression->getOpcode() == llvm::Instruction::IntToPtr)
        return llvm::ConstantExpr::getIntToPtr(inner, type);
    }
    if (constant.getType() == type) return &constant;
    code.errors.push_back("device code has a constant pointer of an unusual address space");
    return llvm::Constant::getNullValue(type);
  }

  llvm::Value* placeOf(llvm::GlobalVariable& variable, llvm::IRBuilder<>& builder, llvm::Value* thread) {
    auto* pointer = builder.getPtrTy();
    if (auto slot = slots.find(&variable); slot != slots.end())
      return builder.CreateLoad(pointer, slot->second, variable.getName());
    if (variable.getAddressSpace() != 3) return llvm::ConstantPointerNull::get(pointer);
    assert(thread && "initial values cannot name shared variables");
    auto* block = loadField(builder, pointer, thread, offsetof(abi::ThreadContext, block));
    auto offset = code.sharedOffsets.find(&variable);
    if (offset == code.sharedOffsets.end())
      return loadField(builder, pointer, block, offsetof(abi::BlockContext, dynamicSharedBase),
                       variable.getName());
    auto* window = loadField(builder, pointer, block, offsetof(abi::BlockContext, shared));
    return byteOffset(builder, window, offset->second);
  }

  void rewriteInstruction(llvm::Instruction& instruction, llvm::IRBuilder<>& builder,
                          std::map<std::string, llvm::Value*>& registers, llvm::Value* thread) {
    if (llvm::isa<llvm::AddrSpaceCastInst>(instruction)) {
      instruction.replaceAllUsesWith(instruction.getOperand(0));
      instruction.eraseFromParent();
      return;
    }
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) return;
    llvm::Function* callee = call->getCalledFunction();
    if (isThreadMarker(*call)) {
      call->replaceAllUsesWith(thread);
      call->eraseFromParent();
    } else if (llvm::StringRef read = registerReadBy(*call); !read.empty()) {
      std::string name = read.str();
      llvm::Value*& value = registers[name];
      if (!value) value = readRegister(builder, name, thread);
      assert(value && "lowerDevice leaves known registers only");
      call->replaceAllUsesWith(llvm::IRBuilder<>(call).CreateZExtOrTrunc(value, call->getType()));
      call->eraseFromParent();
    } else if (callee && callee->isIntrinsic()) {
      remangle(*call);
    } else if (!callee || threaded.contains(callee)) {
      if (!call->isInlineAsm() && thread) passThread(*call, thread);
    }
  }

  /// Memory intrinsics carry their address spaces in their names.
  void remangle(llvm::CallInst& call) {
    auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call);
    if (!memory) return;
    std::vector<llvm::Type*> types{memory->getRawDest()->getType()};
    if (auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(memory))
      types.push_back(copy->getRawSource()->getType());
    types.push_back(memory->getLength()->getType());
    call.setCalledFunction(llvm::Intrinsic::getDeclaration(&module, memory->getIntrinsicID(), types));
  }

  void passThread(llvm::CallInst& call, llvm::Value* thread) {
    std::vector<llvm::Value*> arguments{thread};
    arguments.insert(arguments.end(), call.arg_begin(), call.arg_end());
    llvm::IRBuilder<> builder(&call);
    auto* replacement =
        builder.CreateCall(withThread(call.getFunctionType()), call.getCalledOperand(), arguments);
    replacement->setAttributes(shifted(module.getContext(), call.getAttributes(), call.arg_size()));
    replacement->copyFastMathFlags(llvm::isa<llvm::FPMathOperator>(call) &&
                                           llvm::isa<llvm::FPMathOperator>(replacement)
                                       ? call.getFastMathFlags()
                                       : llvm::FastMathFlags());
    replacement->takeName(&call);
    call.replaceAllUsesWith(replacement);
    call.eraseFromParent();
  }

  void dropVariables() {
    for (llvm::GlobalVariable& variable : module.globals()) variable.removeDeadConstantUsers();
    std::vector<llvm::GlobalVariable*> dead;
    for (llvm::GlobalVariable& variable : module.globals())
      if (!isHostText(variable)) dead.push_back(&variable);
    for (llvm::GlobalVariable* variable : dead)
      if (variable->hasInitializer()) variable->setInitializer(nullptr);
    for (llvm::GlobalVariable* variable : dead) {
      variable->removeDeadConstantUsers();
      if (!variable->use_empty()) variable->replaceAllUsesWith(llvm::PoisonValue::get(variable->getType()));
      variable->eraseFromParent();
    }
  }
};

} // namespace

void retarget(DeviceCode& code) { Retarget(code).run(); }

} // namespace kcheck::instrument
