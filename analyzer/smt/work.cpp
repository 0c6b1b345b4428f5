// Queries one after the other, each in a context of its own, so that no answer hangs on those before; models
// as lines of text.
#include "analyzer/smt/work.h"

#include "analyzer/smt/message.h"
#include "analyzer/smt/server.h"
#include "analyzer/smt/translator.h"

#include <ctime>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

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

double processorSeconds() {
  struct timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// Looks at the processor's clock and at the connection while Z3 is at work: Z3 measures its own time limit
/// on the clock on the wall, and does not always keep it.
class Watch {
public:
  explicit Watch(int connection) : connection(connection) {
    std::thread([this] { run(); }).detach();
  }

  /// The process ends when its clock shows that.
  void setLimit(double seconds) {
    std::lock_guard lock(mutex);
    limit = seconds;
  }
  void takeLimitOff() { setLimit(kNever); }
  /// Z3 is to stop when the clock shows `until`.
  z3::check_result check(z3::solver& solver, double until) {
    setEnd(until, &solver.ctx());
    z3::check_result result = solver.check();
    setEnd(kNever, nullptr);
    return result;
  }

private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void setEnd(double until, z3::context* context) {
    std::lock_guard lock(mutex);
    end = until;
    checking = context;
  }

  void run() {
    constexpr int busy = 5, idle = 20; // milliseconds
    for (bool isIdle = true;;) {
      struct pollfd other{connection, POLLRDHUP, 0};
      if (poll(&other, 1, isIdle ? idle : busy) > 0) _exit(0);
      const double time = processorSeconds();
      std::lock_guard lock(mutex);
      isIdle = limit == kNever;
      if (time > limit) {
        writeAll(connection, "\nlate\n");
        _exit(0);
      }
      if (checking && time > end) checking->interrupt();
    }
  }

  const int connection;
  std::mutex mutex;
  double limit = kNever, end = kNever;
  z3::context* checking = nullptr;
};

class Work {
public:
  Work(z3::context& context, const ReceivedQuery& received, Watch& watch, int output)
      : context(context), query(received.query), ranges(received.ranges), watch(watch), output(output),
        seconds(received.milliseconds / 1000.0), start(processorSeconds()), deadline(start + seconds) {}

  void run(Theory theory) {
    constexpr double grace = 0.1; ///< for Z3 to notice that it is to stop
    watch.setLimit(deadline + grace);
    run(theory, processorSeconds() + (theory == Theory::Integers ? seconds / 2 : seconds));
    watch.takeLimitOff();
  }

private:
  void run(Theory theory, double until) {
    try {
      attempt(theory, until);
    } catch (const z3::exception& e) {
      finish(std::string("error ") + e.msg());
    } catch (const std::exception& e) {
      finish(std::string("error ") + e.what());
    }
  }

  z3::check_result check(z3::solver& solver, double until) {
    return watch.check(solver, std::min(until, deadline));
  }

  void attempt(Theory theory, double until) {
    auto translate =
        theory == Theory::Integers ? integerTranslator(context, ranges) : bitVectorTranslator(context);
    // Z3's solver of its own choice makes all its tactics for each query, which costs more than most of these
    // do, and answers less of the rest.
    z3::solver solver(context, z3::solver::simple());
    for (Expr c : query.constraints) solver.add((*translate)(c));
    // Negations and the like may have been simplified away around a node.
    for (Expr e : dependable(query.constraints, query.noWrap))
      if (translate->has(e)) solver.add(translate->noWrap(e));
    addSide(*translate, solver, 0);
    z3::check_result result = check(solver, until);
    const std::string reason = result == z3::unknown ? solver.reason_unknown() : ""; // not of what is guessed
    if (result == z3::unknown && theory == Theory::Integers)
      if (auto model = underWishes(*translate, solver, query.guesses, 0.2))
        return writeModel(*translate, *model);
    if (result != z3::sat) {
      finish(result == z3::unsat ? "unsat" : "unknown " + reason);
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
      std::size_t side = translate.sideConditions().size();
      for (Expr w : wish) translate(w);
      addSide(translate, solver, side);
      solver.push();
      for (Expr w : wish) solver.add(translate.known(w));
      if (check(solver, processorSeconds() + seconds) == z3::sat) return solver.get_model();
      solver.pop();
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
    for (const Symbol* symbol : symbols)
      out += "symbol " + std::to_string(symbol->id) + " " + text(model, translate.variableOf(*symbol)) + "\n";
    for (std::size_t i = 0; i < translate.applications().size(); ++i)
      out += "apply " + std::to_string(translate.applications()[i]->id) + " " +
             text(model, translate.known(translate.applications()[i])) + "\n";
    writeAll(output, out);
    finish("sat");
  }

  void finish(const std::string& result) {
    writeAll(output, "time " + std::to_string(processorSeconds() - start) + "\nresult " + result + "\n");
  }

  z3::context& context;
  const Query& query;
  const KnownRanges& ranges;
  Watch& watch;
  const int output;
  const double seconds, start, deadline;
};

/// What comes next with a length in front; nothing at the end. A length of 0 asks for more of the last query.
std::optional<std::string> receive(int connection) {
  std::uint64_t count = 0;
  if (!readAll(connection, &count, sizeof count)) return std::nullopt;
  std::string bytes(count, '\0');
  if (!readAll(connection, bytes.data(), count)) return std::nullopt;
  return bytes;
}

} // namespace

void workOn(int connection) {
  // Memory that is given back to the system is paid for again, page by page, in each of many short queries.
  constexpr int large = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, large);
  Watch& watch = *new Watch(connection); // its thread ends with the process
  std::unique_ptr<z3::context> context, next = std::make_unique<z3::context>();
  std::unique_ptr<ReceivedQuery> query;
  std::unique_ptr<Work> work;
  while (std::optional<std::string> bytes = receive(connection)) {
    if (bytes->empty()) {
      if (!work) return;
      work->run(Theory::BitVectors);
      continue;
    }
    work.reset();
    context = std::move(next);
    query = decode(*bytes);
    if (!query) return;
    work = std::make_unique<Work>(*context, *query, watch, connection);
    work->run(Theory::Integers);
    next = std::make_unique<z3::context>(); // while the other side thinks about the answer
  }
}

} // namespace kcheck::analyzer::smt
