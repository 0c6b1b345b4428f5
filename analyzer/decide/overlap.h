// The arithmetic decider of a pair: two accesses of two different threads cannot touch the same byte. Finds
// proofs only; when it finds none, nothing is said.
#pragma once

#include "analyzer/decide/inequality.h"
#include "analyzer/decide/view.h"

#include <functional>
#include <optional>
#include <set>

namespace kcheck::analyzer {

/// Equations between what the two threads compute, worked on until they contradict each other or force the
/// two threads to be one.
class PairSystem {
public:
  PairSystem(KernelView& kernel, AccessView& a, AccessView& b, Relation relation);

  /// True: no two threads so related satisfy both conditions and touch a common byte. Accesses without offset
  /// are taken to touch.
  bool provesApart();

  /// As that, with one thread before the other along the axis that tells them apart: for the two orders.
  bool provesApartInOrder();

  /// After provesApart() has found nothing: both threads, where they touch a common byte, have the same value
  /// of the expression.
  bool makesEqual(Expr e) { return isEqual(e); }

  /// Two threads that have the same value of one of these are ordered by a lock.
  std::vector<Expr> separators;

private:
  struct Equation {
    Poly poly; ///< lo <= poly <= hi
    Int lo = 0, hi = 0;
  };
  /// A summand of an equation: coefficient * v, lo <= v <= hi.
  struct Term {
    Int coefficient = 0, lo = 0, hi = 0;
    Poly poly;
    Expr difference = nullptr; ///< v is 0 only when both threads have the same value of this
  };

  // overlap.cpp
  bool conditionsExclude();
  bool offsetsApart();
  void addEquation(Poly poly, Int lo, Int hi);
  void work(const Equation& e);
  void workAll();
  bool isOneThread();
  bool isDecided();
  std::vector<Poly> equationsAndFacts(std::set<Atom>& linked, bool isAny, std::size_t& equalities);
  bool factsContradict();
  bool joinsWhatDiffers();
  bool joinsIndices();
  Poly canonical(const Poly& p);
  Range rangeOf(const Atom& a);
  Bounds boundsOf(const Poly& p);
  bool proves(const Poly& p);
  void addUpFacts();
  // overlap_gaps.cpp
  std::vector<Term> termsOf(const Poly& p);
  void eliminateByGaps(const Equation& e);
  void splitByRadix(const Equation& e);
  void splitAtProducts(const Poly& p, Int lo, Int hi);
  bool splitAt(const Poly& p, Int lo, Int hi, const Atom& factor, Int more);
  bool splitInto(const Poly& unit, const Poly& high, const Poly& low, Int lo, Int hi);
  // overlap_combine.cpp
  bool deepen();
  void addCongruence(Poly difference, Int modulus);
  void compareRemainders();
  void combine();
  void splitAtConstants();
  void compareRooms();
  void compareRooms(const Poly& p);
  // overlap_triangles.cpp
  struct Triangle;
  static std::optional<Triangle> triangleOf(const Atom& atom, AccessView& view,
                                            const std::function<Poly(Expr)>& polyOf);
  void compareTriangles();
  bool liesInRows(const Triangle& first, const Triangle& second, Int scale, const Poly (&rest)[2]);
  // overlap_equalities.cpp
  bool isEqual(Expr e);
  bool isShown(Expr e);
  void markEqual(Expr e);
  void follow(Expr e);
  void followSlices();
  void followNumbers();
  bool isRoomOfBoth(Expr e);
  bool holdsForBoth(Expr condition);
  bool equationsMakeEqual(Expr e);
  void congruent(const Poly& difference, Int modulus, Expr symbolicModulus);
  Poly differenceOf(Expr e);
  void followSum(Expr e);

  KernelView& kernel;
  AccessView &a, &b;
  Relation relation;
  bool contradiction = false;
  std::vector<Equation> equations; ///< all so far; from `next` on not yet worked on
  std::size_t next = 0;
  std::unordered_set<Expr> equal, followed;
  std::vector<Expr> numbered; ///< equal applications of injective functions, until their operands are as well
  std::unordered_map<Expr, bool> equalMemo;
  std::vector<Poly> facts;                       ///< >= 0, of both threads
  std::vector<Poly> sums;                        ///< of two facts, >= 0 as well
  std::vector<Poly> given;                       ///< >= 0 as well, beside what the conditions say
  std::vector<std::pair<Poly, Int>> congruences; ///< a polynomial and what it is a multiple of
  unsigned multiples = 0;                        ///< so many unknown factors were made
  std::size_t mostEquations = 48;
  bool factsStale = true;
};

} // namespace kcheck::analyzer
