// From a solver's values to what a reader sees: indices, sizes, variables, and what of it is approximate.
#include "analyzer/decide/question.h"
#include "analyzer/expr/fold.h"

#include <algorithm>
#include <set>

namespace kcheck::analyzer {

namespace {

std::string baseName(const std::string& name) {
  std::size_t mark = name.rfind('#');
  return mark == std::string::npos ? name : name.substr(0, mark);
}

/// The value as a reader expects it: signed, unless the symbol is declared unsigned.
std::int64_t shown(const Symbol& s, std::int64_t value) {
  if (s.width < 64 && s.hi > signedMax(s.width)) return std::int64_t(zeroExtend(value, s.width));
  return s.width == 1 ? value & 1 : signExtend(value, s.width);
}

/// Whether a launch of two warps in each of a few blocks would not have this thread.
bool isFarOut(const WitnessThread& t, const Dim3& blockDim, const Dim3& gridDim) {
  constexpr std::uint64_t kThreads = 64, kBlocks = 4;
  auto linear = [](const Dim3& at, const Dim3& in) {
    return at.x + std::uint64_t(in.x) * (at.y + std::uint64_t(in.y) * at.z);
  };
  return linear(t.thread, blockDim) >= kThreads || linear(t.block, gridDim) >= kBlocks;
}

std::vector<const Symbol*> symbolsBelow(const std::vector<Expr>& expressions) {
  std::vector<const Symbol*> result;
  std::unordered_set<Expr> seen;
  for (Expr e : expressions)
    if (e)
      bottomUp(
          e, [&](Expr n) { return seen.count(n) != 0; },
          [&](Expr n) {
            seen.insert(n);
            if (n->op == Op::Symbol && n->symbol->kind != SymbolKind::Object) result.push_back(n->symbol);
          });
  return result;
}

/// Whether it is counted from where an array lies.
bool liesInMemory(Expr e) {
  if (e->op == Op::Symbol) return e->symbol->kind == SymbolKind::Object;
  return (e->op == Op::Add || e->op == Op::Mul) && std::ranges::any_of(e->operands, liesInMemory);
}

/// What is read of memory that nobody writes, each size as a function of its own.
struct Read {
  unsigned object = 0;
  std::int64_t offset = 0;
  unsigned bytes = 0;
  std::uint64_t value = 0;
};

/// Whether they find the bytes that both read to be the same.
bool agree(const Read& a, const Read& b) {
  if (a.object != b.object) return true;
  const std::int64_t from = std::max(a.offset, b.offset),
                     to = std::min(a.offset + a.bytes, b.offset + b.bytes);
  for (std::int64_t at = from; at < to; ++at)
    if (((a.value >> (8 * (at - a.offset))) ^ (b.value >> (8 * (at - b.offset)))) & 0xff) return false;
  return true;
}

} // namespace

/// An array whose bytes the values take for different ones in different reads; null where there is none.
const MemoryObject* Decider::tornIn(const std::vector<Expr>& constraints, const Assignment& values,
                                    std::optional<Relation> relation) {
  Evaluator evaluate(values);
  std::vector<Read> reads;
  const MemoryObject* torn = nullptr;
  for (Expr c : constraints)
    anyNode(c, [&](Expr n) {
      if (n->width % 8 != 0) return false;
      const auto note = [&](unsigned object, Expr offset) {
        const Read read{object, evaluate(offset).value, n->width / 8u,
                        zeroExtend(evaluate(n).value, n->width)};
        if (!std::ranges::all_of(reads, [&](const Read& other) { return agree(read, other); }))
          torn = &kernel.model.objects[read.object];
        reads.push_back(read);
      };
      if (n->op == Op::Symbol && isFoundAtLaunch(*n->symbol))
        for (const PlaceRead& place : kernel.model.readAt.at(copies.original(n->symbol))) {
          const unsigned thread = copies.threadOf(n->symbol);
          note(place.object, relation && thread ? copies.of(place.offset, *relation, thread) : place.offset);
        }
      if (n->op != Op::Apply || n->operands.size() != 1) return false;
      const auto content = kernel.model.contents.find(n->function);
      if (content != kernel.model.contents.end()) note(content->second, n->operands[0]);
      return false;
    });
  return torn;
}

/// Whether it is what the launch may have put into memory: anything, but one thing at one place.
bool Decider::isFoundAtLaunch(const Symbol& symbol) {
  return kernel.model.foundAtLaunch.contains(copies.original(&symbol));
}

/// Whether its loop comes to that round: goes on in all before, one by one.
bool Decider::roundComes(const Symbol& counter, const Assignment& values, std::optional<Relation> relation) {
  constexpr std::int64_t kMostRounds = 64;
  const auto known = kernel.model.goingOn.find(copies.original(&counter));
  if (known == kernel.model.goingOn.end()) return false;
  const GoingOn& loop = known->second;
  const std::int64_t round = values.of(&counter);
  if (round < 0 || round > kMostRounds) return false;
  const unsigned thread = copies.threadOf(&counter);
  Evaluator evaluate(values);
  const auto goesOn = [&](std::int64_t at) -> std::optional<bool> {
    Substitution then(kernel.context);
    then.set(loop.round, kernel.context.constant(32, at));
    Expr condition = then(loop.condition);
    if (!causesOf(condition).empty()) return {};
    bool all = true;
    for (unsigned of : {1u, 2u})
      if (!relation || thread == 0 || thread == of)
        all = all && evaluate(relation ? copies.of(condition, *relation, of) : condition).value != 0;
    return all;
  };
  for (std::int64_t before = 0; before < round; ++before)
    if (goesOn(before) != true) return false;
  return !loop.isLast || goesOn(round) == false;
}

/// The approximations that the outcome hangs on. Where the values of everything exact decide the constraints
/// alone, it hangs on none.
/// What follows from what the lanes have voted holds whatever they have: nothing leans on it.
std::vector<Expr> Decider::withoutLaneFacts(std::vector<Expr> constraints, std::optional<Relation> relation) {
  Substitution given(kernel.context);
  const Expr holds = kernel.context.boolean(true);
  for (Expr fact : kernel.model.laneFacts)
    if (!relation)
      given.set(fact, holds);
    else
      for (unsigned thread : {1u, 2u}) given.set(copies.of(fact, *relation, thread), holds);
  if (given.empty()) return constraints;
  for (Expr& constraint : constraints) constraint = given(constraint);
  return constraints;
}

std::vector<Cause> Decider::causes(const std::vector<Expr>& all, const Assignment& values,
                                   std::optional<Relation> relation) {
  const std::vector<Expr> constraints = withoutLaneFacts(all, relation);
  const auto ofTornReads = [&]() -> std::vector<Cause> {
    const MemoryObject* torn = tornIn(constraints, values, relation);
    if (!torn) return {};
    return {{CauseKind::Approximation, "bytes of `" + torn->name + "`, which are read more than once"}};
  };
  std::set<Cause> result;
  for (Expr c : constraints) {
    for (Cause& cause : causesOf(c)) result.insert(std::move(cause));
    const auto isDistance = [](Expr n) {
      return n->op == Op::Add && liesInMemory(n->operands[0]) && liesInMemory(n->operands[1]);
    };
    if (anyNode(c, isDistance))
      result.insert({CauseKind::Approximation, "how far apart two arrays lie in memory"});
  }
  if (result.empty()) return ofTornReads();
  Substitution exactValues(kernel.context);
  std::unordered_set<Expr> seen;
  for (Expr c : constraints)
    anyNode(c, [&](Expr n) {
      if (n->op == Op::Symbol && n->symbol->kind != SymbolKind::Object && seen.insert(n).second &&
          (n->symbol->exact || isFoundAtLaunch(*n->symbol) || roundComes(*n->symbol, values, relation)))
        exactValues.set(n, kernel.context.constant(n->width, values.of(n->symbol)));
      return false;
    });
  bool independent =
      std::all_of(constraints.begin(), constraints.end(), [&](Expr c) { return isTrue(exactValues(c)); });
  if (independent) return ofTornReads();
  return {result.begin(), result.end()};
}

RaceScope Decider::scopeOf(const Assignment& values, Relation relation) {
  if (relation == Relation::DifferentBlocks) return RaceScope::InterBlock;
  Evaluator evaluate(values);
  bool sameWarp = evaluate(copies.of(kernel.warp, relation, 1)).value ==
                  evaluate(copies.of(kernel.warp, relation, 2)).value;
  return sameWarp ? RaceScope::IntraWarp : RaceScope::InterWarp;
}

/// Whether it happens in launches of usual sizes too: of two warps in a few blocks, of eight in many.
bool Decider::happensInUsualSizes(const Verdict& verdict, std::optional<Relation> relation) {
  constexpr std::pair<std::int64_t, std::int64_t> kThreadsAndBlocks[] = {{64, 4}, {256, 64}};
  ExprContext& c = kernel.context;
  return std::ranges::all_of(kThreadsAndBlocks, [&](auto size) {
    std::vector<Expr> constraints = verdict.constraints;
    auto fix = [&](Expr extent, std::int64_t to) {
      if (!isConst(extent))
        constraints.push_back(
            c.eq(extent, c.constant(32, std::int64_t(std::min<Int>(to, extent->symbol->hi)))));
    };
    fix(kernel.model.blockDim[0], size.first);
    fix(kernel.model.gridDim[0], size.second);
    return solve(std::move(constraints), relation).outcome == Verdict::Outcome::Happens;
  });
}

/// Numbers in structures that are parameters, in their order there.
static std::vector<std::pair<std::string, std::int64_t>>
fieldsIn(const KernelModel& model, const std::vector<Expr>& constraints, const Assignment& values) {
  Evaluator evaluate(values);
  std::map<std::pair<unsigned, std::int64_t>, std::pair<std::string, std::int64_t>> found;
  for (Expr constraint : constraints)
    anyNode(constraint, [&](Expr n) {
      if (n->op != Op::Apply || n->operands.size() != 1 || !isConst(n->operands[0])) return false;
      const auto content = model.contents.find(n->function);
      const auto fields =
          content == model.contents.end() ? model.fields.end() : model.fields.find(content->second);
      if (fields == model.fields.end()) return false;
      const auto field = fields->second.find(n->operands[0]->value);
      if (field == fields->second.end() || field->second.isPointer) return false;
      const std::int64_t bits = std::int64_t(evaluate(n).value);
      const bool isPlain = n->width == 64 || n->width == 1 || !field->second.isUnsigned;
      found[{content->second, field->first}] = {field->second.name,
                                                isPlain ? signExtend(bits, n->width)
                                                        : std::int64_t(zeroExtend(bits, n->width))};
      return false;
    });
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (auto& [place, named] : found) result.push_back(std::move(named));
  return result;
}

Witness Decider::witness(const Verdict& verdict, const ModelAccess& a, const ModelAccess* b,
                         Relation relation) {
  const Assignment& values = verdict.values;
  Witness w;
  Evaluator evaluate(values);
  auto as = [&](Expr e, unsigned thread) { return b ? copies.of(e, relation, thread) : e; };
  auto number = [&](Expr e, unsigned thread) { return evaluate(as(e, thread)).value; };
  auto triple = [&](const Expr(&axes)[3], unsigned thread, std::uint32_t absent) {
    std::uint32_t v[3];
    for (int i = 0; i < 3; ++i)
      v[i] = axes[i] ? std::uint32_t(zeroExtend(number(axes[i], thread), 32)) : absent;
    return Dim3{v[0], v[1], v[2]};
  };
  const KernelModel& model = kernel.model;
  w.blockDim = triple(model.blockDim, 1, 1);
  w.gridDim = triple(model.gridDim, 1, 1);
  std::set<const Symbol*> counted; // in the values of variables that have names
  auto describe = [&](const ModelAccess& access, unsigned thread, WitnessThread& out) {
    out.thread = triple(model.threadIdx, thread, 0);
    out.block = triple(model.blockIdx, thread, 0);
    if (access.offset) out.offset = number(access.offset, thread);
    if (access.size) out.bytes = number(access.size, thread);
    if (access.stored) {
      Value v = evaluate(as(access.stored, thread));
      if (causesOf(access.stored).empty() && !v.undefined) out.stored = v.value;
    }
    for (auto& [name, e] : access.locals) {
      out.values.emplace_back(name, number(e, thread));
      for (const Symbol* s : symbolsBelow({as(e, thread)})) counted.insert(s);
    }
  };
  describe(a, 1, w.first);
  if (b) describe(*b, 2, w.second);
  std::set<std::pair<std::string, unsigned>> told;
  for (const Symbol* s : symbolsBelow(verdict.constraints)) {
    bool isIndex = s->kind == SymbolKind::ThreadIdx || s->kind == SymbolKind::BlockIdx ||
                   s->kind == SymbolKind::BlockDim || s->kind == SymbolKind::GridDim;
    std::string name = baseName(s->name);
    unsigned thread = copies.threadOf(s);
    if (isIndex || !told.insert({name, thread}).second) continue;
    // What a loop leaves of a number without closed form may be anything: a far one tells nobody anything.
    constexpr std::int64_t kFar = 1 << 24;
    const std::int64_t value = shown(*s, values.of(s));
    if (!s->exact && s->cause.kind == CauseKind::Loop && (value < -kFar || value > kFar)) continue;
    auto& list = thread == 2 ? w.second.values : thread == 1 || !b ? w.first.values : w.shared;
    if (s->kind == SymbolKind::LoopCounter && counted.contains(s)) w.implied.push_back(name);
    bool isOwn = !b && s->varies == Varies::Never;
    (isOwn ? w.shared : list).emplace_back(name, value);
  }
  for (auto& field : fieldsIn(model, verdict.constraints, values)) w.shared.push_back(std::move(field));
  w.causes = causes(verdict.constraints, values, b ? std::optional(relation) : std::nullopt);
  w.causes.insert(w.causes.end(), verdict.leans.begin(), verdict.leans.end());
  const bool needsLarge =
      isFarOut(w.first, w.blockDim, w.gridDim) || (b && isFarOut(w.second, w.blockDim, w.gridDim));
  const bool leansOnLaunch = !model.hiddenSize.empty() || w.leansOn(CauseKind::AnyInput);
  if (!model.unfollowedAt.empty() && leansOnLaunch)
    w.causes.push_back({CauseKind::Launch, model.unfollowedAt});
  if (model.hiddenSize.empty()) return w;
  std::optional<Relation> between = b ? std::optional(relation) : std::nullopt;
  if (needsLarge || (w.causes.empty() && !happensInUsualSizes(verdict, between)))
    w.causes.push_back({CauseKind::Launch, model.hiddenSize});
  return w;
}

} // namespace kcheck::analyzer
