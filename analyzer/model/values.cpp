// The value of an operand as an expression: known from the environment, a constant, or an unknown with its
// cause.
#include "analyzer/model/execution.h"

#include "analyzer/model/declared_objects.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;

namespace kcheck::analyzer {

bool isScalarInteger(const Type* type) { return type->isIntegerTy() && type->getIntegerBitWidth() <= 64; }

Expr Execution::value(const Value* v) {
  auto known = env.find(v);
  if (known != env.end()) return known->second;
  if (auto* constant = dyn_cast<Constant>(v)) return constantValue(constant);
  if (auto* argument = dyn_cast<llvm::Argument>(v)) return state.argumentValue(*argument);
  if (before) {
    auto earlier = before->env.find(v);
    if (earlier != before->env.end()) return earlier->second;
  }
  return fresh(v, "unavailable", "an unfollowed value", {{}, "a value that the model does not follow"});
}

Expr Execution::constantValue(const Constant* constant) {
  unsigned width = widthOf(constant->getType(), state.layout);
  if (auto* number = dyn_cast<ConstantInt>(constant)) {
    if (number->getBitWidth() > 64)
      return fresh(constant, "wide", "a wide constant", {{}, "integers of more than 64 bits"});
    return exprs.constant(width, width == 1 ? number->isOne() : number->getSExtValue());
  }
  if (isa<ConstantPointerNull>(constant)) return exprs.constant(64, 0);
  if (auto* number = dyn_cast<ConstantFP>(constant)) {
    APInt bits = number->getValueAPF().bitcastToAPInt();
    return exprs.constant(width,
                          std::int64_t(bits.extractBitsAsZExtValue(std::min(width, bits.getBitWidth()), 0)));
  }
  if (isa<ConstantAggregateZero>(constant)) return exprs.constant(width, 0);
  if (isa<UndefValue>(constant))
    return fresh(constant, "undefined", "an undefined value", {{}, "an undefined value"});
  if (auto* variable = dyn_cast<GlobalVariable>(constant))
    return state.objects.pointerTo(globalObject(state, *variable));
  if (auto* function = dyn_cast<llvm::Function>(constant)) {
    MemoryObject code;
    code.name = function->getName().str();
    code.space = MemorySpace::Constant;
    code.isCode = true;
    return state.objects.pointerTo(state.objects.object("function " + code.name, code));
  }
  if (auto* expression = dyn_cast<ConstantExpr>(constant)) {
    if (auto* address = dyn_cast<GEPOperator>(expression)) return gep(*address);
    if (expression->getOpcode() == Instruction::IntToPtr)
      if (Expr pointer = sharedPointer(expression->getOperand(0)); pointer && pointer->width == width)
        return pointer;
    if (expression->isCast()) {
      Expr operand = value(expression->getOperand(0));
      if (operand->width == width) return operand;
      return exprs.extend(operand->width > width ? Op::Trunc : Op::ZExt, width, operand);
    }
    if (Instruction::isBinaryOp(expression->getOpcode()) && expression->getType()->isIntegerTy()) {
      Expr a = value(expression->getOperand(0)), b = value(expression->getOperand(1));
      if (expression->getOpcode() == Instruction::Add) return exprs.add(a, b);
      if (expression->getOpcode() == Instruction::Sub) return exprs.sub(a, b);
    }
  }
  auto* made = state.symbols.function(constant, "constant", "a constant", width);
  return exprs.apply(made, {});
}

/// An unknown of its own in every iteration of the loops around the instruction.
Symbol* Execution::local(const Instruction& instruction, const std::string& role, const std::string& name,
                         unsigned width) {
  Symbol* symbol = state.symbols.get(&instruction, role, id, name, width, SymbolKind::Unknown);
  state.homes[symbol] = {state.loopInfo.getLoopFor(instruction.getParent()), id};
  state.origins[symbol] = &instruction;
  return symbol;
}

Expr Execution::fresh(const Value* v, const char* role, const std::string& name, const Cause& cause) {
  unsigned width = widthOf(v->getType(), state.layout);
  auto* instruction = dyn_cast<Instruction>(v);
  Symbol* symbol = instruction ? local(*instruction, role, name, width)
                               : state.symbols.get(v, role, id, name, width, SymbolKind::Unknown);
  symbol->exact = false;
  symbol->cause = cause;
  return exprs.of(symbol);
}

/// All that tells one function of operands from another: what is compared how, of which types, which part is
/// taken.
static std::string functionOf(const Instruction& instruction, const std::string& name) {
  std::string text = name;
  raw_string_ostream out(text);
  if (auto* compare = dyn_cast<CmpInst>(&instruction)) out << ' ' << compare->getPredicate();
  if (auto* address = dyn_cast<GEPOperator>(&instruction)) out << ' ' << *address->getSourceElementType();
  auto number = [&](int one) { out << ' ' << one; };
  if (auto* extract = dyn_cast<ExtractValueInst>(&instruction)) for_each(extract->getIndices(), number);
  if (auto* insert = dyn_cast<InsertValueInst>(&instruction)) for_each(insert->getIndices(), number);
  if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) for_each(shuffle->getShuffleMask(), number);
  out << " : " << *instruction.getType();
  for (const Use& operand : instruction.operands()) out << ", " << *operand->getType();
  return text;
}

/// A function of the operands, which the instruction and the text `name` determine.
Expr Execution::opaque(const Instruction& instruction, const std::string& name) {
  std::vector<Expr> operands;
  const Instruction* key = nullptr; // the same function wherever it stands
  for (auto& operand : instruction.operands())
    if (operand->getType()->isMetadataTy()) // says which function it is, too
      key = &instruction;
    else if (!isa<BasicBlock>(operand) && !isa<llvm::Function>(operand))
      operands.push_back(value(operand));
  return opaque(instruction, name, functionOf(instruction, name), std::move(operands), key);
}

Expr Execution::opaque(const Instruction& instruction, const std::string& name, const std::string& role,
                       std::vector<Expr> operands, const Instruction* key) {
  auto* made = state.symbols.function(key, role, name, widthOf(instruction.getType(), state.layout));
  made->exact = false;
  const bool isReal =
      instruction.getType()->isFPOrFPVectorTy() ||
      any_of(instruction.operands(), [](const Use& use) { return use->getType()->isFPOrFPVectorTy(); });
  const std::string what = isReal ? "floating-point arithmetic" : "the operation `" + name + "`";
  made->cause = {CauseKind::Approximation, what + " at " + state.lineText(instruction)};
  return exprs.apply(made, std::move(operands));
}

/// A vector by its elements, where all of them are known: what it was before they were put in is no matter.
Expr Execution::vectorOf(const InsertElementInst& last) {
  const std::string name = last.getOpcodeName();
  const auto* type = dyn_cast<FixedVectorType>(last.getType());
  std::vector<const Value*> elements(type ? type->getNumElements() : 0);
  const auto* insert = &last;
  for (; insert; insert = dyn_cast<InsertElementInst>(insert->getOperand(0))) {
    const auto* place = dyn_cast<ConstantInt>(insert->getOperand(2));
    if (!place || place->getZExtValue() >= elements.size()) return opaque(last, name);
    const Value*& element = elements[place->getZExtValue()];
    if (!element) element = insert->getOperand(1);
  }
  std::vector<Expr> operands;
  for (const Value* element : elements) {
    if (!element) return opaque(last, name);
    operands.push_back(value(element));
  }
  return opaque(last, name, functionOf(last, "vector"), std::move(operands), nullptr);
}

} // namespace kcheck::analyzer
