#include "ptx/assembly.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kcheck::ptx {

const Rules& commonRules() {
  static const Rules rules = [] {
    Rules table;
    addMoves(table);
    addConversions(table);
    addIntegers(table);
    addBits(table);
    addFloats(table);
    addComparisons(table);
    addMemory(table);
    addVideo(table);
    addScalarVideo(table);
    return table;
  }();
  return rules;
}

namespace {

/// Straight-line statements, guarded ones as an `if`, labels and branches as basic blocks.
class Assembler {
public:
  Assembler(llvm::CallInst& call, llvm::IRBuilder<>& b, Target& target, llvm::ArrayRef<const Rules*> rules,
            const std::vector<Statement>& statements)
      : call(call), b(b), rules(rules), builder(call, b, target), statements(statements) {}

  std::optional<llvm::Value*> run(std::string& failure) {
    for (const Statement& statement : statements)
      if (!statement.label.empty())
        labels[statement.label] =
            llvm::BasicBlock::Create(b.getContext(), statement.label, call.getFunction());
    for (const Statement& statement : statements)
      if (!one(statement) || !builder.isWellFormed()) {
        failure = statement.text;
        for (auto& [name, block] : labels) // those that were not reached any more
          if (block->empty()) new llvm::UnreachableInst(b.getContext(), block);
        return std::nullopt;
      }
    return builder.results();
  }

private:
  llvm::CallInst& call;
  llvm::IRBuilder<>& b;
  llvm::ArrayRef<const Rules*> rules;
  Builder builder;
  const std::vector<Statement>& statements;
  std::map<std::string, llvm::BasicBlock*> labels;

  Rule ruleFor(const Statement& statement) const {
    for (const Rules* table : rules)
      if (auto rule = table->find(statement.opcode[0]); rule != table->end()) return rule->second;
    return nullptr;
  }

  bool one(const Statement& statement) {
    if (!statement.label.empty()) return place(*labels.at(statement.label));
    if (statement.isDeclaration) return builder.declare(statement);
    if (statement.opcode[0] == "pragma" || statement.opcode[0] == "loc") return true;
    if (statement.opcode[0] == "bra") return branch(statement);
    const Rule rule = ruleFor(statement);
    if (!rule) return false;
    if (!statement.guard) return rule(builder, statement);
    llvm::Value* holds = builder.predicate(*statement.guard);
    b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(holds, &call, false));
    bool done = rule(builder, statement);
    b.SetInsertPoint(&call);
    return done;
  }

  /// What follows goes on in the label's block.
  bool place(llvm::BasicBlock& label) {
    llvm::BasicBlock* before = call.getParent();
    llvm::BasicBlock* rest = llvm::SplitBlock(before, &call);
    before->getTerminator()->setSuccessor(0, &label);
    llvm::BranchInst::Create(rest, &label);
    b.SetInsertPoint(&call);
    return true;
  }

  bool branch(const Statement& statement) {
    if (statement.operands.empty()) return false;
    auto target = labels.find(statement.operands[0].name);
    if (target == labels.end()) return false;
    llvm::Value* holds = statement.guard ? builder.predicate(*statement.guard) : nullptr;
    llvm::BasicBlock* before = call.getParent();
    llvm::BasicBlock* rest = llvm::SplitBlock(before, &call);
    before->getTerminator()->eraseFromParent();
    if (holds)
      llvm::BranchInst::Create(target->second, rest, holds, before);
    else
      llvm::BranchInst::Create(target->second, before);
    b.SetInsertPoint(&call);
    return true;
  }
};

} // namespace

std::optional<llvm::Value*> translate(llvm::CallInst& call, llvm::IRBuilder<>& b, Target& target,
                                      llvm::ArrayRef<const Rules*> rules, std::string& failure) {
  const auto* assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  auto statements = parse(assembly->getAsmString(), failure);
  if (!statements) return std::nullopt;
  return Assembler(call, b, target, rules, *statements).run(failure);
}

} // namespace kcheck::ptx
