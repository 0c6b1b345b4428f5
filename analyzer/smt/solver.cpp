// The asking side: a query goes out as bytes, models come back as lines of text, and every model is checked
// by evaluation before it counts.
#include "analyzer/smt/solver.h"

#include "analyzer/expr/fold.h"
#include "analyzer/smt/message.h"
#include "analyzer/smt/server.h"
#include "analyzer/smt/work.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <sstream>

namespace kcheck::analyzer::smt {

namespace {

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

/// What comes back, theory by theory.
class Reply {
public:
  Reply(const Query& query, double limit) : limit(limit) {
    for (const Symbol* symbol : symbolsOf(query.constraints)) symbols.emplace(symbol->id, symbol);
    for (Expr c : query.constraints)
      anyNode(c, [&](Expr n) {
        if (n->op == Op::Apply) applications.emplace(n->id, n);
        return false;
      });
  }

  Answer read(Connection& connection, double deadline) {
    Answer answer;
    bool late = false;
    while (auto line = connection.line(deadline)) {
      std::istringstream words(*line);
      std::string kind, value;
      unsigned id = 0;
      words >> kind;
      if (kind == "late") late = true;
      if (kind == "time") words >> seconds;
      if (kind == "result") {
        finish(words, answer);
        return answer;
      }
      words >> id >> value;
      if (kind == "symbol" && symbols.count(id)) answer.model.symbols[symbols.at(id)] = parse(value);
      if (kind == "apply") apply(id, parse(value), answer.model);
    }
    ended = true;
    answer.status = Status::Unknown;
    answer.timedOut = late || connection.timedOut();
    answer.reason = answer.timedOut ? kTimeLimit : "the solver ended without an answer";
    answer.seconds = limit;
    return answer;
  }

  /// The process gives no more answers.
  bool hasEnded() const { return ended; }

private:
  static constexpr const char* kTimeLimit = "time limit of the solver";

  void finish(std::istringstream& words, Answer& answer) {
    std::string status;
    words >> status >> std::ws;
    std::getline(words, answer.reason);
    answer.status = status == "sat"     ? Status::Sat
                    : status == "unsat" ? Status::Unsat
                    : status == "error" ? Status::Error
                                        : Status::Unknown;
    answer.seconds = seconds;
    bool cut =
        answer.reason == "timeout" || answer.reason == "canceled" || answer.reason.starts_with("interrupted");
    if (!cut) return;
    answer.timedOut = true;
    answer.reason = kTimeLimit;
  }

  /// Arguments are evaluated under the model so far: operands come before users.
  void apply(unsigned id, std::int64_t value, Assignment& model) {
    auto found = applications.find(id);
    if (found == applications.end()) return;
    std::vector<std::int64_t> arguments;
    for (Expr o : found->second->operands) arguments.push_back(evaluate(o, model).value);
    model.functions[{found->second->function, arguments}] = value;
  }

  const double limit;
  double seconds = 0; ///< of processor time so far
  bool ended = false;
  std::unordered_map<unsigned, const Symbol*> symbols;
  std::unordered_map<unsigned, Expr> applications;
};

/// The processes that answer, for all who ask: where they are forked matters, not by whom.
class Processes {
public:
  void prepare() { server.start(); }
  /// One that nobody is talking to.
  std::optional<Connection> take() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        Connection connection = std::move(idle.back());
        idle.pop_back();
        return connection;
      }
    }
    return server.connect();
  }
  /// One that waits for the next query.
  void giveBack(Connection connection) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(connection));
  }

private:
  Server server{workOn};
  std::mutex mutex;
  std::vector<Connection> idle;
};

Processes& processes() {
  static Processes instance;
  return instance;
}

/// One that has taken the query. What has been waiting for long may have ended meanwhile.
std::optional<Connection> sent(const std::string& bytes) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::optional<Connection> connection = processes().take();
    if (connection && connection->send(bytes)) return connection;
  }
  return std::nullopt;
}

} // namespace

void prepareSolver() { processes().prepare(); }

Answer check(const Query& query, Ranges& ranges, unsigned milliseconds) {
  Answer answer;
  std::optional<Connection> connection = sent(encode(query, ranges, milliseconds));
  if (!connection) {
    answer.status = Status::Error;
    answer.reason = "could not start a process for the solver";
    return answer;
  }
  // The limit is one of processor time; the clock on the wall only ends what never gets any.
  constexpr double kMostWaiting = 20;
  const double deadline = now() + kMostWaiting * milliseconds / 1000.0;
  Reply reply(query, milliseconds / 1000.0);
  for (Theory theory : {Theory::Integers, Theory::BitVectors}) {
    if (theory == Theory::BitVectors && !connection->send(std::string(sizeof(std::uint64_t), '\0'))) break;
    answer = reply.read(*connection, deadline);
    answer.theory = theory;
    if (answer.status == Status::Sat && !satisfies(query, answer.model)) {
      answer.status = Status::Unknown;
      answer.reason = "the solver's example does not hold when worked out";
    }
    if (answer.status == Status::Sat || answer.status == Status::Unsat || reply.hasEnded()) break;
  }
  if (!reply.hasEnded()) processes().giveBack(std::move(*connection));
  return answer;
}

} // namespace kcheck::analyzer::smt
