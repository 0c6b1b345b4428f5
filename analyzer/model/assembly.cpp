// What inline PTX does: accesses whose address is an operand, and results that nobody knows. What may do more
// than that leaves a gap at its line.
#include "analyzer/model/execution.h"

#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace kcheck::analyzer {

AtomicScope scopeIn(StringRef name) {
  if (name.contains(".cta")) return AtomicScope::Block;
  if (name.contains(".sys")) return AtomicScope::System;
  return AtomicScope::Device;
}

namespace {

unsigned accessBytes(StringRef opcode) {
  unsigned bits = 32;
  for (auto [suffix, value] : {std::pair{"128", 128u}, {"64", 64u}, {"32", 32u}, {"16", 16u}, {"8", 8u}})
    if (opcode.ends_with(suffix)) {
      bits = value;
      break;
    }
  unsigned lanes = opcode.contains(".v4") ? 4 : opcode.contains(".v2") ? 2 : 1;
  return bits / 8 * lanes;
}

} // namespace

/// Unknown; of atomics and ordered loads one that may order threads.
Expr Execution::assemblyResult(const CallInst& call, StringRef opcode) {
  std::string line = state.lineText(call);
  bool ordered = opcode.starts_with("atom") || opcode.contains(".relaxed") || opcode.contains(".acquire") ||
                 opcode.contains(".volatile");
  bool ofWarp = opcode.starts_with("shfl") || opcode.starts_with("vote") || opcode.starts_with("match") ||
                opcode.starts_with("activemask") || opcode.starts_with("redux");
  Expr result =
      fresh(&call, "assembly", "a result (" + line + ")",
            {ordered  ? CauseKind::Order
             : ofWarp ? CauseKind::Warp
                      : CauseKind::Approximation,
             (ordered ? "the result of the atomic operation at " : "the result of inline PTX at ") + line});
  if (ordered) state.synchronizing.insert(result->symbol);
  return result;
}

void Execution::runAssembly(const CallInst& call, Expr& condition) {
  auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  StringRef text = StringRef(assembly->getAsmString()).trim();
  unsigned outputs = 0;
  for (auto& constraint : assembly->ParseConstraints()) outputs += constraint.Type == InlineAsm::isOutput;
  StringRef body = text;
  body.consume_front("{");
  body = body.trim();
  StringRef opcode = body.split(' ').first.split('\t').first;
  std::string line = state.lineText(call);
  if (isRelevant(&call)) {
    if (text.contains("%laneid"))
      env[&call] = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, 31));
    else
      env[&call] = assemblyResult(call, opcode);
  }
  std::size_t bracket = text.find("[$");
  bool single = text.count(';') <= 1;
  unsigned operand = 0;
  if (bracket != StringRef::npos && single && !text.substr(bracket + 2).consumeInteger(10, operand) &&
      operand >= outputs && operand - outputs < call.arg_size()) {
    Expr pointer = value(call.getArgOperand(operand - outputs));
    bool followed = pointer->width == 64;
    Expr bytes = exprs.constant(64, accessBytes(opcode));
    bool ordered = opcode.contains(".relaxed") || opcode.contains(".acquire") || opcode.contains(".release");
    AtomicScope scope = scopeIn(opcode);
    if (followed && !opcode.starts_with("ld.")) // no ticket counts on
      for (const Place& place : state.objects.places(pointer)) noteUpdate(call, place.object, {});
    if (followed && (opcode.starts_with("atom") || opcode.starts_with("red.")))
      return record(call, AccessKind::Atomic, pointer, bytes, condition, nullptr, scope);
    if (followed && opcode.starts_with("ld."))
      return record(call, ordered ? AccessKind::Atomic : AccessKind::Read, pointer, bytes, condition, nullptr,
                    ordered ? scope : AtomicScope::None, opcode.contains(".volatile"));
    if (followed && opcode.starts_with("st."))
      return record(call, ordered ? AccessKind::Atomic : AccessKind::Write, pointer, bytes, condition,
                    nullptr, ordered ? scope : AtomicScope::None, opcode.contains(".volatile"));
  }
  bool harmless =
      !call.mayWriteToMemory() || opcode.starts_with("membar") || opcode.starts_with("fence") ||
      opcode.starts_with("trap") || opcode.starts_with("exit") || opcode.starts_with("nanosleep") ||
      opcode.starts_with("shfl") || opcode.starts_with("vote") || opcode.starts_with("match") ||
      opcode.starts_with("redux") || opcode.starts_with("prefetch") || opcode.starts_with("brkpt") ||
      opcode.starts_with("setmaxnreg") || (bracket == StringRef::npos && opcode.starts_with("mov"));
  if (!harmless && bracket == StringRef::npos && !text.contains('[')) {
    // Sideeffects without an address operand: arithmetic that is only marked volatile, unless it claims
    // memory.
    bool claims = StringRef(assembly->getConstraintString()).contains("~{memory}");
    harmless = !claims || text.empty();
  }
  if (!harmless) {
    // It may be a means to order threads as well.
    Symbol* unknown = local(call, "unknown PTX", "past the inline PTX (" + line + ")", 1);
    unknown->exact = false;
    unknown->cause = {CauseKind::Order, "the inline PTX at " + line + ", which may order threads"};
    condition = exprs.logicalAnd(condition, exprs.of(unknown));
    state.gap(&call, "the inline PTX `" + body.substr(0, 40).str() + "` is not understood", true, true);
  }
}

} // namespace kcheck::analyzer
