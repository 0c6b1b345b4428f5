// Kernel models built by hand, with the look of the CUDA code they stand for.
#pragma once

#include "analyzer/decide/races.h"
#include "analyzer/expr/fold.h"

#include <gtest/gtest.h>

namespace kcheck::analyzer::testing {

/// An index expression with C's operators; plain integers mix in. Arithmetic is `int`'s (no signed wrap)
/// unless made by the `u` functions.
struct Ix {
  ExprContext* c = nullptr;
  Expr e = nullptr;

  Ix make(Op op, Ix o, std::uint8_t flags = NoFlags) const { return {c, c->binary(op, e, o.e, flags)}; }
  Ix lift(std::int64_t v) const { return {c, c->constant(e->width, v)}; }
  Ix operator+(Ix o) const { return make(Op::Add, o, NoSignedWrap); }
  Ix operator-(Ix o) const { return {c, c->sub(e, o.e, NoSignedWrap)}; }
  Ix operator*(Ix o) const { return make(Op::Mul, o, NoSignedWrap); }
  Ix operator/(Ix o) const { return make(Op::SDiv, o); }
  Ix operator%(Ix o) const { return make(Op::SRem, o); }
  Ix operator&(Ix o) const { return make(Op::And, o); }
  Ix operator|(Ix o) const { return make(Op::Or, o); }
  Ix operator^(Ix o) const { return make(Op::Xor, o); }
  Ix operator<<(Ix o) const { return make(Op::Shl, o, NoSignedWrap); }
  Ix operator>>(Ix o) const { return make(Op::LShr, o); }
  Ix operator<(Ix o) const { return make(Op::Slt, o); }
  Ix operator<=(Ix o) const { return make(Op::Sle, o); }
  Ix operator>(Ix o) const { return o < *this; }
  Ix operator>=(Ix o) const { return o <= *this; }
  Ix operator==(Ix o) const { return make(Op::Eq, o); }
  Ix operator!=(Ix o) const { return !(*this == o); }
  Ix operator&&(Ix o) const { return make(Op::And, o); }
  Ix operator||(Ix o) const { return make(Op::Or, o); }
  Ix operator!() const { return {c, c->logicalNot(e)}; }
  Ix operator+(std::int64_t v) const { return *this + lift(v); }
  Ix operator-(std::int64_t v) const { return *this - lift(v); }
  Ix operator*(std::int64_t v) const { return *this * lift(v); }
  Ix operator/(std::int64_t v) const { return *this / lift(v); }
  Ix operator%(std::int64_t v) const { return *this % lift(v); }
  Ix operator&(std::int64_t v) const { return *this & lift(v); }
  Ix operator|(std::int64_t v) const { return *this | lift(v); }
  Ix operator^(std::int64_t v) const { return *this ^ lift(v); }
  Ix operator<<(std::int64_t v) const { return *this << lift(v); }
  Ix operator>>(std::int64_t v) const { return *this >> lift(v); }
  Ix operator<(std::int64_t v) const { return *this < lift(v); }
  Ix operator<=(std::int64_t v) const { return *this <= lift(v); }
  Ix operator>(std::int64_t v) const { return *this > lift(v); }
  Ix operator>=(std::int64_t v) const { return *this >= lift(v); }
  Ix operator==(std::int64_t v) const { return *this == lift(v); }
  Ix operator!=(std::int64_t v) const { return *this != lift(v); }
  /// Arithmetic of `unsigned`, which wraps.
  Ix uadd(Ix o) const { return make(Op::Add, o); }
  Ix umul(Ix o) const { return make(Op::Mul, o); }
  Ix umul(std::int64_t v) const { return umul(lift(v)); }
  Ix ult(Ix o) const { return make(Op::Ult, o); }
  Ix urem(Ix o) const { return make(Op::URem, o); }
  Ix udiv(Ix o) const { return make(Op::UDiv, o); }
  Ix zext(unsigned width) const { return {c, c->extend(Op::ZExt, width, e)}; }
  Ix sext(unsigned width) const { return {c, c->extend(Op::SExt, width, e)}; }
  Ix trunc(unsigned width) const { return {c, c->extend(Op::Trunc, width, e)}; }
};

/// A launch: the extents, 0 where free.
struct Shape {
  std::array<std::uint32_t, 3> block{128, 1, 1}, grid{8, 1, 1};
};
inline Shape anyLaunch1D() { return {{0, 1, 1}, {0, 1, 1}}; }
inline Shape anyLaunch() { return {{0, 0, 0}, {0, 0, 0}}; }
inline Shape blocksOf(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
  return {{x, y, z}, {8, 1, 1}};
}
inline Shape launch(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block) {
  return {block, grid};
}

/// A kernel under construction. Accesses go to the current phase of the block and to the one of the grid.
class KernelBuilder {
public:
  explicit KernelBuilder(Shape shape = {}) {
    static const char axis[] = "xyz";
    auto index = [&](const char* name, SymbolKind kind, int i, Int lo, Int hi) {
      Symbol* s = context.symbol(std::string(name) + "." + axis[i], 32, kind, lo, hi);
      s->axis = unsigned(i);
      return context.of(s);
    };
    const std::uint32_t mostThreads[3] = {1024, 1024, 64}, mostBlocks[3] = {2147483647u, 65535, 65535};
    for (int i = 0; i < 3; ++i) {
      std::uint32_t b = shape.block[std::size_t(i)], g = shape.grid[std::size_t(i)];
      model.blockDim[i] =
          b ? context.constant(32, b) : index("blockDim", SymbolKind::BlockDim, i, 1, mostThreads[i]);
      model.gridDim[i] =
          g ? context.constant(32, g) : index("gridDim", SymbolKind::GridDim, i, 1, mostBlocks[i]);
      model.threadIdx[i] = index("threadIdx", SymbolKind::ThreadIdx, i, 0, (b ? b : mostThreads[i]) - 1);
      model.blockIdx[i] = index("blockIdx", SymbolKind::BlockIdx, i, 0, Int(g ? g : mostBlocks[i]) - 1);
    }
    model.blockPhases.emplace_back();
    model.gridPhases.emplace_back();
    active = context.boolean(true);
  }

  Ix of(Expr e) { return {&context, e}; }
  Ix tid(int i = 0) { return of(model.threadIdx[i]); }
  Ix bid(int i = 0) { return of(model.blockIdx[i]); }
  Ix dim(int i = 0) { return of(model.blockDim[i]); }
  Ix grid(int i = 0) { return of(model.gridDim[i]); }
  /// blockIdx * blockDim + threadIdx, in unsigned arithmetic as CUDA's headers have it.
  Ix gid(int i = 0) { return tid(i).uadd(dim(i).umul(bid(i))); }
  Ix param(const std::string& name, unsigned width = 32) {
    return of(context.of(context.symbol(name, width, SymbolKind::Parameter)));
  }
  Ix param(const std::string& name, Int lo, Int hi) {
    return of(context.of(context.symbol(name, 32, SymbolKind::Parameter, lo, hi)));
  }
  Ix counter(const std::string& name, Int hi = 2147483646) { // of a loop, each thread's own
    Symbol* s = context.symbol(name, 32, SymbolKind::LoopCounter, 0, hi);
    s->varies = Varies::ByThread;
    return of(context.of(s));
  }
  Ix sharedCounter(const std::string& name) { // of a loop with a barrier: all threads of a block are in step
    Symbol* s = context.symbol(name, 32, SymbolKind::LoopCounter, 0, 2147483646);
    s->varies = Varies::ByBlock;
    return of(context.of(s));
  }
  Ix unknown(const std::string& name, const std::string& cause, Int lo = -2147483648ll, Int hi = 2147483647) {
    Symbol* s = context.symbol(name, 32, SymbolKind::Unknown, lo, hi);
    s->varies = Varies::ByThread;
    s->exact = false;
    s->cause = {{}, cause};
    return of(context.of(s));
  }
  Ix data(const std::string& array, Ix index) {
    return of(context.apply(context.function(array, 32), {index.e}));
  }
  Ix number(std::int64_t v, unsigned width = 32) { return of(context.constant(width, v)); }

  unsigned array(const std::string& name, MemorySpace space, std::optional<std::uint64_t> bytes = {}) {
    MemoryObject o;
    o.id = unsigned(model.objects.size());
    o.name = name;
    o.space = space;
    o.bytes = bytes;
    o.elementBytes = 4;
    model.objects.push_back(o);
    return o.id;
  }
  unsigned global(const std::string& name, std::optional<std::uint64_t> bytes = {}) {
    return array(name, MemorySpace::Global, bytes);
  }
  unsigned shared(const std::string& name, std::optional<std::uint64_t> bytes = {}) {
    return array(name, MemorySpace::Shared, bytes);
  }

  /// Accesses the element with this index (sign-extended, as `int` subscripts are).
  ModelAccess& access(AccessKind kind, unsigned object, Ix index, unsigned bytes = 4) {
    ModelAccess a;
    a.site = nextSite++;
    a.where = {"k.cu", 10 + a.site, 3, 0};
    a.kind = kind;
    a.object = object;
    Expr wide = context.extend(Op::SExt, 64, index.e);
    a.offset = context.mul(wide, context.constant(64, bytes), NoSignedWrap);
    a.size = context.constant(64, bytes);
    a.condition = active;
    model.gridPhases.back().accesses.push_back(a);
    model.blockPhases.back().accesses.push_back(a);
    return model.blockPhases.back().accesses.back();
  }
  void read(unsigned object, Ix index, unsigned bytes = 4) { access(AccessKind::Read, object, index, bytes); }
  void write(unsigned object, Ix index, unsigned bytes = 4) {
    access(AccessKind::Write, object, index, bytes);
  }
  void write(unsigned object, Ix index, Ix value) {
    access(AccessKind::Write, object, index).stored = value.e;
    model.gridPhases.back().accesses.back().stored = value.e;
  }
  void atomic(unsigned object, Ix index, AtomicScope scope = AtomicScope::Device) {
    access(AccessKind::Atomic, object, index).scope = scope;
    model.gridPhases.back().accesses.back().scope = scope;
  }
  void where(Ix condition) { active = context.logicalAnd(active, condition.e); }
  void everywhere() { active = context.boolean(true); }
  void when(Ix condition, const std::function<void()>& body) {
    Expr outer = active;
    active = context.logicalAnd(active, condition.e);
    body();
    active = outer;
  }
  void barrier() { model.blockPhases.emplace_back(); }
  void fact(Ix condition) { model.facts.push_back(condition.e); }

  KernelAnswers answers(Limits limits = {}) { return decide(model, context, limits); }

  ExprContext context;
  KernelModel model;
  Expr active = nullptr;
  SiteId nextSite = 0;
};

inline PropertyResult property(const KernelAnswers& a, Property p) {
  for (const PropertyResult& r : a.properties)
    if (r.property == p) return r;
  return {};
}

} // namespace kcheck::analyzer::testing
