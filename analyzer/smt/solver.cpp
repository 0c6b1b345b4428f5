// One query: both theories in turn inside a child, models back as lines of text, every model checked by
// evaluation before it counts.
#include "analyzer/smt/solver.h"

#include "analyzer/expr/fold.h"
#include "analyzer/smt/child.h"
#include "analyzer/smt/translator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <sstream>
#include <thread>

namespace kcheck::analyzer::smt {

namespace {

/// The flagged nodes on which every solution depends: not those in an arm of a choice or under an Or, which
/// may go unused.
std::vector<Expr> dependable(const std::vector<Expr>& constraints, const std::vector<Expr>& alsoNoWrap) {
  std::unordered_set<Expr> seen, extra(alsoNoWrap.begin(), alsoNoWrap.end());
  std::vector<Expr> stack, result;
  for (Expr c : constraints) stack.push_back(c);
  while (!stack.empty()) {
    Expr e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    bool canWrap = e->op == Op::Add || e->op == Op::Mul || e->op == Op::Shl || e->op == Op::Trunc;
    bool minus = e->op == Op::Mul && isConst(e->operands[1], -1);
    const bool isSize = e->op == Op::Symbol || e->op == Op::Apply;
    if (isSize && extra.count(e)) result.push_back(e); // a size that is not negative
    if (canWrap && !minus && e->width > 1 && ((e->flags & NoSignedWrap) || extra.count(e)))
      result.push_back(e);
    if (e->width == 1 && e->op == Op::Or) continue;
    if (e->op == Op::Ite)
      stack.push_back(e->operands[0]);
    else
      stack.insert(stack.end(), e->operands.begin(), e->operands.end());
  }
  return result;
}

std::vector<const Symbol*> symbolsOf(const std::vector<Expr>& constraints) {
  std::vector<const Symbol*> result;
  std::unordered_set<Expr> seen;
  for (Expr c : constraints)
    bottomUp(
        c, [&](Expr n) { return seen.count(n) != 0; },
        [&](Expr n) {
          seen.insert(n);
          if (n->op == Op::Symbol) result.push_back(n->symbol);
        });
  return result;
}

double processorSeconds() {
  struct timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// What runs in the child.
class Work {
public:
  Work(z3::context& context, const Query& query, Ranges& ranges, unsigned milliseconds, int output)
      : context(context), query(query), ranges(ranges), output(output),
        deadline(processorSeconds() + milliseconds / 1000.0) {}

  void run(Theory theory, double until) {
    try {
      attempt(theory, until);
    } catch (const z3::exception& e) {
      writeAll(output, std::string("result error ") + e.msg() + "\n");
    } catch (const std::exception& e) {
      writeAll(output, std::string("result error ") + e.what() + "\n");
    }
  }

private:
  /// Z3 measures its time limit on the clock on the wall: a thread of ours watches the processor's.
  z3::check_result check(z3::solver& solver, double until) {
    std::mutex mutex;
    std::condition_variable ended;
    bool isOver = false;
    std::thread watch([&] {
      std::unique_lock lock(mutex);
      while (!isOver) {
        if (processorSeconds() > std::min(until, deadline)) context.interrupt();
        ended.wait_for(lock, std::chrono::milliseconds(5));
      }
    });
    z3::check_result result = solver.check();
    {
      std::lock_guard lock(mutex);
      isOver = true;
    }
    ended.notify_one();
    watch.join();
    return result;
  }

  void attempt(Theory theory, double until) {
    auto translate =
        theory == Theory::Integers ? integerTranslator(context, ranges) : bitVectorTranslator(context);
    z3::solver solver(context);
    for (Expr c : query.constraints) solver.add((*translate)(c));
    // Negations and the like may have been simplified away around a node.
    for (Expr e : dependable(query.constraints, query.noWrap))
      if (translate->has(e)) solver.add(translate->noWrap(e));
    addSide(*translate, solver, 0);
    z3::check_result result = check(solver, until);
    if (result == z3::unknown && theory == Theory::Integers)
      if (auto model = underWishes(*translate, solver, query.guesses, 0.2))
        return writeModel(*translate, *model);
    if (result != z3::sat) {
      writeAll(output,
               result == z3::unsat ? "result unsat\n" : "result unknown " + solver.reason_unknown() + "\n");
      return;
    }
    z3::model model = solver.get_model();
    if (auto better = underWishes(*translate, solver, query.preferences, 0.08)) model = *better;
    writeModel(*translate, model);
  }

  static void addSide(Translator& translate, z3::solver& solver, std::size_t from) {
    for (std::size_t i = from; i < translate.sideConditions().size(); ++i)
      solver.add(translate.sideConditions()[i]);
  }

  /// A model that fulfils one of the wishes as well, each of which may take `seconds`.
  std::optional<z3::model> underWishes(Translator& translate, z3::solver& solver,
                                       const std::vector<std::vector<Expr>>& wishes, double seconds) {
    for (const auto& wish : wishes) {
      if (processorSeconds() > deadline - 0.02) break;
      z3::solver preferred(context);
      for (const z3::expr& a : solver.assertions()) preferred.add(a);
      std::size_t side = translate.sideConditions().size();
      for (Expr w : wish) preferred.add(translate(w));
      addSide(translate, preferred, side);
      addSide(translate, solver, side);
      if (check(preferred, processorSeconds() + seconds) == z3::sat) return preferred.get_model();
    }
    return std::nullopt;
  }

  static std::string text(z3::model& model, const z3::expr& e) {
    z3::expr v = model.eval(e, true);
    if (v.is_bool()) return v.is_true() ? "1" : "0";
    std::string s;
    return v.is_numeral(s) ? s : "0";
  }

  void writeModel(Translator& translate, z3::model& model) {
    std::string out;
    std::vector<const Symbol*> symbols = symbolsOf(query.constraints);
    for (std::size_t i = 0; i < symbols.size(); ++i)
      out += "symbol " + std::to_string(i) + " " + text(model, translate.variableOf(*symbols[i])) + "\n";
    for (std::size_t i = 0; i < translate.applications().size(); ++i)
      out += "apply " + std::to_string(translate.applications()[i]->id) + " " +
             text(model, translate.known(translate.applications()[i])) + "\n";
    writeAll(output, out + "result sat\n");
  }

  z3::context& context;
  const Query& query;
  Ranges& ranges;
  int output;
  double deadline;
};

std::int64_t parse(const std::string& s) {
  bool negative = !s.empty() && s[0] == '-';
  unsigned __int128 v = 0;
  for (std::size_t i = negative ? 1 : 0; i < s.size() && s[i] >= '0' && s[i] <= '9'; ++i)
    v = v * 10 + unsigned(s[i] - '0');
  std::uint64_t low = std::uint64_t(v);
  return std::int64_t(negative ? 0 - low : low);
}

bool withinBounds(const Symbol& s, std::int64_t value) {
  if (s.kind == SymbolKind::Object || s.width == 1) return true;
  Int v = s.hi > signedMax(s.width) ? Int(zeroExtend(value, s.width)) : Int(signExtend(value, s.width));
  return v >= s.lo && v <= s.hi;
}

/// Whether every constraint is true, and defined, under the model.
bool satisfies(const Query& query, const Assignment& model) {
  for (auto& [symbol, value] : model.symbols)
    if (!withinBounds(*symbol, value)) return false;
  Evaluator evaluate(model);
  return std::all_of(query.constraints.begin(), query.constraints.end(), [&](Expr c) {
    Value v = evaluate(c);
    return v.value == 1 && !v.undefined;
  });
}

} // namespace

struct Solver::Impl {
  z3::context context;

  /// The first query of a context costs more than the following ones: pay once, before forking.
  Impl() {
    z3::expr x = context.int_const("x"), y = context.bv_const("y", 8);
    for (const z3::expr& e : {x > 1 && x < 3, y * y == context.bv_val(9, 8)}) {
      z3::solver s(context);
      s.add(e);
      s.check();
    }
  }
};

namespace {

/// Held while this process is inside Z3 or forks: a child must not inherit a lock that another thread holds.
std::mutex& gate() {
  static std::mutex mutex;
  return mutex;
}

} // namespace

Solver::Solver() = default;
Solver::~Solver() {
  std::lock_guard lock(gate());
  impl.reset();
}

namespace {

/// Reads what the child writes about one theory.
class Reply {
public:
  Reply(const std::vector<const Symbol*>& symbols, const std::unordered_map<unsigned, Expr>& applications)
      : symbols(symbols), applications(applications) {}

  void read(Child& child, double deadline, Answer& answer) {
    while (auto line = child.line(deadline)) {
      std::istringstream words(*line);
      std::string kind, value;
      std::size_t index = 0;
      words >> kind;
      if (kind == "result") {
        finish(words, answer);
        return;
      }
      words >> index >> value;
      if (kind == "symbol" && index < symbols.size()) answer.model.symbols[symbols[index]] = parse(value);
      if (kind == "apply") apply(unsigned(index), parse(value), answer.model);
    }
    answer.status = Status::Unknown;
    answer.timedOut = child.timedOut();
    answer.reason = child.timedOut() ? "time limit of the solver" : "the solver ended without an answer";
  }

private:
  void finish(std::istringstream& words, Answer& answer) {
    std::string status;
    words >> status >> std::ws;
    std::getline(words, answer.reason);
    answer.status = status == "sat"     ? Status::Sat
                    : status == "unsat" ? Status::Unsat
                    : status == "error" ? Status::Error
                                        : Status::Unknown;
    bool cut =
        answer.reason == "timeout" || answer.reason == "canceled" || answer.reason.starts_with("interrupted");
    if (!cut) return;
    answer.timedOut = true;
    answer.reason = "time limit of the solver";
  }

  /// Arguments are evaluated under the model so far: operands come before users.
  void apply(unsigned id, std::int64_t value, Assignment& model) {
    auto found = applications.find(id);
    if (found == applications.end()) return;
    std::vector<std::int64_t> arguments;
    for (Expr o : found->second->operands) arguments.push_back(evaluate(o, model).value);
    model.functions[{found->second->function, arguments}] = value;
  }

  const std::vector<const Symbol*>& symbols;
  const std::unordered_map<unsigned, Expr>& applications;
};

} // namespace

Answer Solver::check(const Query& query, Ranges& ranges, unsigned milliseconds) {
  Answer answer;
  // The limit is one of processor time; the clock on the wall only ends what never gets any.
  constexpr double kMostWaiting = 20;
  double deadline = now() + kMostWaiting * milliseconds / 1000.0;
  if (!impl) {
    std::lock_guard lock(gate());
    try {
      impl = std::make_unique<Impl>();
    } catch (const z3::exception& e) {
      answer.status = Status::Error;
      answer.reason = std::string("z3 did not start: ") + e.msg();
      return answer;
    }
  }
  std::vector<const Symbol*> symbols = symbolsOf(query.constraints);
  std::unordered_map<unsigned, Expr> applications;
  for (Expr c : query.constraints)
    anyNode(c, [&](Expr n) {
      if (n->op == Op::Apply) applications.emplace(n->id, n);
      return false;
    });
  std::unique_lock lock(gate());
  Child child([&](int output) {
    Work work(impl->context, query, ranges, milliseconds, output);
    work.run(Theory::Integers, processorSeconds() + milliseconds / 2500.0);
    work.run(Theory::BitVectors, processorSeconds() + milliseconds / 1000.0);
  });
  lock.unlock();
  child.limitProcessor(milliseconds / 1000.0 + 0.1);
  if (!child.started()) {
    answer.status = Status::Error;
    answer.reason = "could not start a process for the solver";
    return answer;
  }
  for (Theory theory : {Theory::Integers, Theory::BitVectors}) {
    answer = Answer{};
    answer.theory = theory;
    Reply(symbols, applications).read(child, deadline, answer);
    if (answer.status == Status::Sat && !satisfies(query, answer.model)) {
      answer.status = Status::Unknown;
      answer.reason = "the solver's values do not stand up to evaluation";
    }
    if (answer.status == Status::Sat || answer.status == Status::Unsat || child.timedOut()) break;
  }
  answer.seconds = child.processorSeconds();
  return answer;
}

} // namespace kcheck::analyzer::smt
