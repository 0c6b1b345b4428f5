// Inline PTX to IR: statement by statement, each by the rule for its opcode. What has no rule becomes a
// report at that place, never a guess.
#include "instrument/pass/ptx/builder.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kcheck::instrument {

namespace {

using namespace ptx;

const Rules& allRules() {
  static const Rules rules = [] {
    Rules table;
    addMoves(table);
    addConversions(table);
    addIntegers(table);
    addBits(table);
    addFloats(table);
    addComparisons(table);
    addMemory(table);
    addSynchronisation(table);
    addVideo(table);
    addTextures(table);
    addAsync(table);
    addMatrices(table);
    return table;
  }();
  return rules;
}

/// Straight-line statements, guarded ones as an `if`, labels and branches as basic blocks.
class Assembler {
public:
  Assembler(Lowering& lowering, const std::vector<Statement>& statements)
      : l(lowering), builder(lowering), statements(statements) {}

  llvm::Value* run() {
    for (const Statement& statement : statements)
      if (!statement.label.empty())
        labels[statement.label] =
            llvm::BasicBlock::Create(l.b.getContext(), statement.label, l.call.getFunction());
    for (const Statement& statement : statements)
      if (!one(statement) || !builder.isWellFormed()) return refuse(statement.text);
    return builder.results();
  }

private:
  Lowering& l;
  Builder builder;
  const std::vector<Statement>& statements;
  std::map<std::string, llvm::BasicBlock*> labels;

  llvm::Value* refuse(const std::string& text) {
    for (auto& [name, block] : labels) // labels that were not reached any more
      if (block->empty()) new llvm::UnreachableInst(l.b.getContext(), block);
    l.b.SetInsertPoint(&l.call);
    return l.unsupported("PTX `" + text + "`");
  }

  bool one(const Statement& statement) {
    if (!statement.label.empty()) return place(*labels.at(statement.label));
    if (statement.isDeclaration) return builder.declare(statement);
    if (statement.opcode[0] == "pragma" || statement.opcode[0] == "loc") return true;
    if (statement.opcode[0] == "bra") return branch(statement);
    auto rule = allRules().find(statement.opcode[0]);
    if (rule == allRules().end()) return false;
    if (!statement.guard) return rule->second(builder, statement);
    llvm::Value* holds = builder.predicate(*statement.guard);
    l.b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(holds, &l.call, false));
    bool done = rule->second(builder, statement);
    l.b.SetInsertPoint(&l.call);
    return done;
  }

  /// What follows goes on in the label's block.
  bool place(llvm::BasicBlock& label) {
    llvm::BasicBlock* before = l.call.getParent();
    llvm::BasicBlock* rest = llvm::SplitBlock(before, &l.call);
    before->getTerminator()->setSuccessor(0, &label);
    llvm::BranchInst::Create(rest, &label);
    l.b.SetInsertPoint(&l.call);
    return true;
  }

  bool branch(const Statement& statement) {
    if (statement.operands.empty()) return false;
    auto target = labels.find(statement.operands[0].name);
    if (target == labels.end()) return false;
    llvm::Value* holds = statement.guard ? builder.predicate(*statement.guard) : nullptr;
    llvm::BasicBlock* before = l.call.getParent();
    llvm::BasicBlock* rest = llvm::SplitBlock(before, &l.call);
    before->getTerminator()->eraseFromParent();
    if (holds)
      llvm::BranchInst::Create(target->second, rest, holds, before);
    else
      llvm::BranchInst::Create(target->second, before);
    l.b.SetInsertPoint(&l.call);
    return true;
  }
};

/// `$$` is a dollar sign, which occurs in names only; `$0` and `${0}` are placeholders.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "$$") == 0) {
      result += "dollar_";
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

} // namespace

llvm::Value* lowerAssembly(Lowering& l) {
  auto* assembly = llvm::cast<llvm::InlineAsm>(l.call.getCalledOperand());
  std::string failure;
  auto statements = parse(unescaped(assembly->getAsmString()), failure);
  if (!statements) return l.unsupported("PTX `" + failure + "`");
  return Assembler(l, *statements).run();
}

} // namespace kcheck::instrument
