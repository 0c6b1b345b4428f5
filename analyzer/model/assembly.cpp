// Inline PTX that readInlinePtx has left: asynchronous copies, and results that nobody knows. What may do
// more than that leaves a gap at its line.
#include "analyzer/model/barriers.h"
#include "analyzer/model/execution.h"
#include "ptx/statement.h"

#include "llvm/IR/InlineAsm.h"

#include <algorithm>
#include <cctype>

using namespace llvm;

namespace kcheck::analyzer {

namespace {

bool isOneOf(const std::string& word, std::initializer_list<const char*> words) {
  return is_contained(words, word);
}

bool isOfWarp(const ptx::Statement& s) {
  return s.label.empty() &&
         isOneOf(s.opcode[0], {"shfl", "vote", "match", "activemask", "redux", "elect", "movmatrix"});
}

bool isFetch(const ptx::Statement& s) { return s.label.empty() && isOneOf(s.opcode[0], {"tex", "tld4"}); }

/// Neither a thread's way nor memory nor the order of threads depends on it.
bool isHarmless(const ptx::Statement& s, bool claimsMemory) {
  if (!s.label.empty() || s.isDeclaration || isOfWarp(s)) return true;
  const std::string& name = s.opcode[0];
  if (isOneOf(name, {"bra", "pragma", "loc", "nanosleep", "membar", "fence", "setmaxnreg", "brkpt", "pmevent",
                     "prefetch", "prefetchu", "createpolicy"}))
    return true;
  if (isOneOf(name, {"tex", "tld4", "txq", "suq"}))
    return true; // of memory that is taken to be no other array's
  if (name == "cp")
    return s.has("async") && (s.has("commit_group") || s.has("wait_group") || s.has("wait_all"));
  if (isOneOf(name, {"bar", "barrier", "mbarrier", "exit", "ret", "trap", "brx", "call", "griddepcontrol",
                     "wgmma", "tcgen05", "clusterlaunchcontrol", "stackrestore"}))
    return false;
  // Arithmetic that is only marked volatile, unless it claims memory.
  return !claimsMemory &&
         none_of(s.operands, [](const ptx::Operand& o) { return o.kind == ptx::Operand::Kind::Address; });
}

} // namespace

/// Unknown; of atomics and ordered loads one that may order threads.
Expr Execution::assemblyResult(const CallInst& call, StringRef text, bool isOfWarp) {
  std::string line = state.lineText(call);
  bool ordered = text.contains("atom.") || text.contains(".relaxed") || text.contains(".acquire") ||
                 text.contains(".volatile");
  Expr result =
      fresh(&call, "assembly", "a result (" + line + ")",
            {ordered    ? CauseKind::Order
             : isOfWarp ? CauseKind::Warp
                        : CauseKind::Approximation,
             (ordered ? "the result of the atomic operation at " : "the result of inline PTX at ") + line});
  if (ordered) state.synchronizing.insert(result->symbol);
  return result;
}

/// `%envreg2;`: set by the driver, the same for all threads. Cooperative groups ask there whether the grid
/// can meet: whether the address in both registers is none. A kernel on its own may be launched either way.
static Expr environmentRegister(KernelState& state, const CallInst& call, StringRef text) {
  const std::string name = text.take_until([](char c) { return c == ';' || c == ' '; }).str();
  if (name == "%envreg1") return state.exprs.constant(32, 0);
  const std::string shown = name == "%envreg2" ? "cooperative launch" : name;
  Symbol* symbol = state.symbols.get(call.getModule(), name, {}, shown, 32, SymbolKind::Unknown);
  symbol->varies = Varies::Never;
  if (name == "%envreg2") symbol->lo = 0, symbol->hi = 1;
  symbol->exact = !state.launch.isOfProgram() && name == "%envreg2";
  symbol->cause = {CauseKind::Launch, kWhetherCooperative};
  return state.exprs.of(symbol);
}

/// A pointer into shared memory that is given as the number that instructions take. Null where it is not in
/// sight.
Expr Execution::sharedPointer(const Value* address) {
  if (address->getType()->isPointerTy()) return value(address);
  auto* sum = dyn_cast<Operator>(address); // of instructions or in a constant
  if (sum && Instruction::isCast(sum->getOpcode())) return sharedPointer(sum->getOperand(0));
  if (!sum || sum->getOpcode() != Instruction::Add) return nullptr;
  Expr base = sharedPointer(sum->getOperand(0)), ahead = base ? value(sum->getOperand(1)) : nullptr;
  if (!ahead) return nullptr;
  if (ahead->width < 64) ahead = exprs.extend(Op::SExt, 64, ahead);
  return exprs.add(base, ahead, NoSignedWrap);
}

/// What inline PTX takes for an address in shared memory.
Expr Execution::pointerToShared(const CastInst& cast) {
  Expr pointer = sharedPointer(cast.getOperand(0));
  if (pointer && pointer->width == 64 && state.objects.isPointer(pointer)) return pointer;
  state.gap(&cast, "the place in shared memory that inline PTX goes to is not followed");
  return exprs.add(
      state.objects.pointerTo(state.objects.unknown()),
      fresh(&cast, "place", "a place (" + state.lineText(cast) + ")",
            {CauseKind::Approximation, "the place in shared memory at " + state.lineText(cast)}));
}

/// `cp.async.ca.shared.global [to], [from], bytes;`, perhaps with the bytes to be read. The copy begins here;
/// resumeCopies says where it goes on.
bool Execution::runCopy(const CallInst& call, StringRef text, Expr condition) {
  SmallVector<StringRef> parts;
  auto [copy, others] = text.split(';');
  if (!others.trim(" \t\n}").empty()) return false; // several instructions in one
  copy.split(parts, ',');
  auto number = [&](StringRef part) -> std::optional<std::int64_t> {
    part = part.trim();
    std::int64_t literal = 0;
    if (!part.getAsInteger(10, literal)) return literal;
    unsigned operand = 0;
    if (!part.consume_front("$") || part.getAsInteger(10, operand) || operand >= call.arg_size()) return {};
    auto* given = dyn_cast<ConstantInt>(call.getArgOperand(operand));
    return given ? std::optional(given->getSExtValue()) : std::nullopt;
  };
  if (parts.size() < 3 || !parts[0].contains("[$0]") || parts[1].trim() != "[$1]" || call.arg_size() < 2)
    return false;
  const auto bytes = number(parts[2]);
  Expr to = bytes ? sharedPointer(call.getArgOperand(0)) : nullptr, from = value(call.getArgOperand(1));
  if (!to || from->width != 64 || !state.objects.isPointer(to)) return false;
  // So many bytes of it are read, and the rest is zero.
  const bool hasRead = parts.size() > 3 && !parts[3].contains("cache");
  const auto fixed = hasRead ? number(parts[3]) : bytes;
  unsigned operand = 0;
  StringRef given = hasRead ? parts[3].trim() : StringRef();
  if (fixed) {
    if (*fixed > 0)
      record(call, AccessKind::Read, from, exprs.constant(64, std::min(*fixed, *bytes)), condition);
  } else if (given.consume_front("$") && !given.getAsInteger(10, operand) && operand < call.arg_size()) {
    Expr read = exprs.extend(Op::ZExt, 64, value(call.getArgOperand(operand)));
    Expr isLess = exprs.binary(Op::Ult, read, exprs.constant(64, *bytes));
    Expr isAny = exprs.logicalNot(exprs.eq(read, exprs.constant(64, 0)));
    record(call, AccessKind::Read, from, exprs.ite(isLess, read, exprs.constant(64, *bytes)),
           exprs.logicalAnd(condition, isAny));
  } else {
    return false;
  }
  record(call, AccessKind::Write, to, exprs.constant(64, *bytes), condition);
  if (state.asyncCopies.lost().count(&call))
    state.gap(&call, "how long this asynchronous copy runs is not followed", true, false, false);
  return true;
}

std::optional<ModelAccess> Execution::earlier(const RunAccess& access, const CopyUnderWay& copy,
                                              const BasicBlock* where) const {
  ModelAccess result = access.access;
  if (copy.rounds == 0) return result;
  const Loop* loop = copy.loop;
  auto round = loop ? iterations.find(loop) : iterations.end();
  if (round == iterations.end() || round->second->op != Op::Symbol) return {};
  auto isInnerRound = [&](Expr n) {
    const Loop* own = state.loopInfo.getLoopFor(access.instruction->getParent());
    for (; own && own != loop; own = own->getParentLoop())
      if (auto inner = iterations.find(own); inner != iterations.end() && inner->second == n) return true;
    return false;
  };
  auto changes = [&](Expr e) {
    return anyNode(e, [&](Expr n) {
      if (n->op == Op::Apply || isInnerRound(n)) return false;
      auto home = n->op == Op::Symbol ? state.homes.find(n->symbol) : state.homes.end();
      return n != round->second && home != state.homes.end() && home->second.first &&
             loop->contains(home->second.first);
    });
  };
  Expr distance = exprs.constant(round->second->width, copy.rounds);
  Substitution back(exprs);
  back.set(round->second, exprs.sub(round->second, distance));
  for (Expr* e : {&result.offset, &result.size, &result.condition}) {
    if (changes(*e)) return {};
    *e = back(*e);
  }
  result.condition = exprs.logicalAnd(result.condition, exprs.binary(Op::Sle, distance, round->second));
  // Behind a loop that runs a known number of times, it was in the last of them.
  if (const auto trips = knownTrips.find(loop); trips != knownTrips.end() && !loop->contains(where))
    result.condition = exprs.logicalAnd(
        result.condition, exprs.eq(round->second, exprs.constant(round->second->width, trips->second)));
  return result;
}

/// That the thread is in the round of the loop that it has entered since the copy.
Expr Execution::inRound(const CopyUnderWay& copy) const {
  const auto round = copy.round ? iterations.find(copy.entered) : iterations.end();
  if (round == iterations.end()) return exprs.boolean(true);
  return exprs.eq(round->second, exprs.constant(round->second->width, *copy.round));
}

/// Copies that may be under way at a barrier go on behind it.
void Execution::resumeCopies(const BasicBlock* barrier) {
  for (const CopyUnderWay& copy : state.asyncCopies.at(barrier))
    for (const RunAccess& access : before->accesses) {
      if (access.instruction != copy.copy) continue;
      auto again = before->earlier(access, copy, barrier);
      if (!again) {
        state.gap(copy.copy, "how long this asynchronous copy runs is not followed", true, false, false);
        continue;
      }
      again->condition = exprs.logicalAnd(again->condition, inRound(copy));
      const std::string line = state.lineText(*copy.copy);
      Symbol* goesOn = local(*copy.copy, "under way", "the copy at " + line + " is under way", 1);
      goesOn->exact = false;
      goesOn->cause = {CauseKind::Approximation, "whether the copy at " + line + " is still under way"};
      again->condition = exprs.logicalAnd(again->condition, exprs.of(goesOn));
      if (isFalse(again->condition)) continue;
      stored.insert(again->object);
      accesses.push_back({copy.copy, std::move(*again)});
    }
}

void Execution::runAssembly(const CallInst& call, Expr& condition) {
  auto* assembly = cast<InlineAsm>(call.getCalledOperand());
  StringRef text = StringRef(assembly->getAsmString()).trim();
  std::string failure;
  const auto statements = ptx::parse(text.str(), failure);
  StringRef body = text;
  body.consume_front("{");
  body = body.trim();
  if (isRelevant(&call)) {
    const bool isOne = statements && statements->size() == 1;
    if (isOne && statements->front().opcode[0] == "mov" && text.contains("%envreg"))
      env[&call] = environmentRegister(state, call, text.substr(text.find("%envreg")));
    else
      env[&call] = assemblyResult(call, text, statements && any_of(*statements, isOfWarp));
  }
  if (startsCopy(call) && runCopy(call, body, condition)) return;
  if (statements && statements->size() == 1 && runRows(call, statements->front(), condition)) return;
  if (statements && any_of(*statements, isFetch)) state.model.readsTextures = true;
  const bool claims = StringRef(assembly->getConstraintString()).contains("~{memory}");
  if (statements && all_of(*statements, [&](const ptx::Statement& s) { return isHarmless(s, claims); }))
    return;
  // It may be a means to order threads as well.
  const std::string line = state.lineText(call);
  Symbol* unknown = local(call, "unknown PTX", "past the inline PTX (" + line + ")", 1);
  unknown->exact = false;
  unknown->cause = {CauseKind::Order, "the inline PTX at " + line + ", which may order threads"};
  condition = exprs.logicalAnd(condition, exprs.of(unknown));
  std::string shown; // of several lines, too, in one
  for (char c : body)
    if (!std::isspace(static_cast<unsigned char>(c)))
      shown += c;
    else if (!shown.empty() && shown.back() != ' ')
      shown += ' ';
  constexpr std::size_t kMostShown = 40;
  if (shown.size() > kMostShown) shown = shown.substr(0, shown.rfind(' ', kMostShown)) + " ..";
  state.gap(&call, "the inline PTX `" + shown + "` is not understood", true, true);
}

} // namespace kcheck::analyzer
