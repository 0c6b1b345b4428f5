// Tables of symbols, functions and nodes, operands before users; then the query's lists, by number of node.
#include "analyzer/smt/message.h"

#include <cstring>
#include <type_traits>
#include <unordered_set>

namespace kcheck::analyzer::smt {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct SymbolRecord {
  Int lo, hi;
  std::uint32_t id, width;
  SymbolKind kind;
};

constexpr std::size_t kLongestTable = 1024; ///< that the solver is told

struct FunctionRecord {
  std::int64_t tableStep;
  std::uint32_t id, width, keys;
  bool injective;
  bool ascends;
};

struct NodeRecord {
  Int lo, hi;
  std::uint64_t maybe;
  std::int64_t value;
  std::uint32_t id, symbol, function, operands;
  std::uint16_t width;
  Op op;
  std::uint8_t flags;
  bool isExact;
};

class Writer {
public:
  std::string bytes;
  template <class T> void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void putCount(std::size_t count) { put(static_cast<std::uint32_t>(count)); }
};

class Reader {
public:
  explicit Reader(const std::string& bytes) : at(bytes.data()), left(bytes.size()) {}
  bool failed = false;
  template <class T> T get() {
    T value{};
    if (left < sizeof value) {
      failed = true;
      return value;
    }
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    left -= sizeof value;
    return value;
  }
  /// Of things that take at least one byte each.
  std::uint32_t count() {
    auto value = get<std::uint32_t>();
    if (value <= left) return value;
    failed = true;
    return 0;
  }
  bool isAtEnd() const { return !left; }

private:
  const char* at;
  std::size_t left;
};

/// Numbers things in the order in which they are met.
template <class T> class Numbers {
public:
  std::uint32_t of(const T* one) {
    if (!one) return kNone;
    auto [found, isNew] = number.emplace(one, static_cast<std::uint32_t>(all.size()));
    if (isNew) all.push_back(one);
    return found->second;
  }
  std::vector<const T*> all;

private:
  std::unordered_map<const T*, std::uint32_t> number;
};

class Encoder {
public:
  explicit Encoder(Ranges& ranges) : ranges(ranges) {}

  void add(Expr root) {
    bottomUp(
        root, [&](Expr e) { return place.count(e) != 0; },
        [&](Expr e) {
          place.emplace(e, static_cast<std::uint32_t>(nodes.size()));
          nodes.push_back(e);
        });
  }

  std::string write(const Query& query, unsigned milliseconds) {
    const std::vector<NodeRecord> records = describe();
    Writer out;
    out.put(milliseconds);
    out.putCount(symbols.all.size());
    for (const Symbol* s : symbols.all) out.put(SymbolRecord{s->lo, s->hi, s->id, s->width, s->kind});
    out.putCount(functions.all.size());
    for (const Function* f : functions.all) put(*f, out);
    out.putCount(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      out.put(records[i]);
      for (Expr operand : nodes[i]->operands) out.put(place.at(operand));
    }
    auto list = [&](const std::vector<Expr>& exprs) {
      out.putCount(exprs.size());
      for (Expr e : exprs) out.put(place.at(e));
    };
    auto lists = [&](const std::vector<std::vector<Expr>>& all) {
      out.putCount(all.size());
      for (const auto& one : all) list(one);
    };
    list(query.constraints);
    lists(query.preferences);
    lists(query.guesses);
    list(query.noWrap);
    return std::move(out.bytes);
  }

private:
  static void put(const Function& f, Writer& out) {
    out.put(FunctionRecord{f.table.step, f.id, f.width, f.keys, f.injective, f.ascends});
    const bool isShort = f.table.entries.size() <= kLongestTable;
    out.putCount(isShort ? f.table.entries.size() : 0);
    if (isShort)
      for (std::int64_t entry : f.table.entries) out.put(entry);
  }

  Ranges& ranges;
  std::unordered_map<Expr, std::uint32_t> place;
  std::vector<Expr> nodes;
  Numbers<Symbol> symbols;
  Numbers<Function> functions;

  std::vector<NodeRecord> describe() {
    std::vector<NodeRecord> records;
    records.reserve(nodes.size());
    for (Expr e : nodes) {
      const Range range = ranges.of(e);
      const bool canWrap = e->op == Op::Add || e->op == Op::Mul || e->op == Op::Shl || e->op == Op::Trunc;
      records.push_back({range.lo, range.hi, range.maybe, e->value, e->id, symbols.of(e->symbol),
                         functions.of(e->function), static_cast<std::uint32_t>(e->operands.size()), e->width,
                         e->op, e->flags, canWrap && e->width > 1 && ranges.isExact(e)});
    }
    return records;
  }
};

class Decoder {
public:
  Decoder(Reader& in, ReceivedQuery& result) : in(in), result(result) {}

  /// False when the bytes are no query.
  bool run() {
    result.milliseconds = in.get<unsigned>();
    for (std::uint32_t left = in.count(); left && !in.failed; --left) readSymbol();
    for (std::uint32_t left = in.count(); left && !in.failed; --left) readFunction();
    for (std::uint32_t left = in.count(); left && !in.failed; --left) readNode();
    result.query.constraints = list();
    result.query.preferences = lists();
    result.query.guesses = lists();
    result.query.noWrap = list();
    return !in.failed && in.isAtEnd();
  }

private:
  Reader& in;
  ReceivedQuery& result;

  template <class T> T* among(std::deque<T>& all, std::uint32_t number) {
    if (number < all.size()) return &all[number];
    in.failed |= number != kNone;
    return nullptr;
  }
  Expr node() {
    Expr e = among(result.nodes, in.get<std::uint32_t>());
    in.failed |= !e;
    return e;
  }
  void readSymbol() {
    const auto record = in.get<SymbolRecord>();
    Symbol& symbol = result.symbols.emplace_back();
    symbol.lo = record.lo;
    symbol.hi = record.hi;
    symbol.id = record.id;
    symbol.width = record.width;
    symbol.kind = record.kind;
  }
  void readFunction() {
    const auto record = in.get<FunctionRecord>();
    Function& function = result.functions.emplace_back();
    function.id = record.id;
    function.width = record.width;
    function.keys = record.keys;
    function.injective = record.injective;
    function.ascends = record.ascends;
    std::vector<std::int64_t> entries;
    for (std::uint32_t left = in.count(); left && !in.failed; --left)
      entries.push_back(in.get<std::int64_t>());
    function.table = Table(std::move(entries), record.tableStep);
  }
  void readNode() {
    const auto record = in.get<NodeRecord>();
    Node node{record.op,
              record.flags,
              record.width,
              record.id,
              record.value,
              among(result.symbols, record.symbol),
              among(result.functions, record.function),
              {}};
    for (std::uint32_t left = record.operands; left && !in.failed; --left)
      node.operands.push_back(this->node());
    const Node& kept = result.nodes.emplace_back(std::move(node));
    result.ranges.set(&kept, {{record.lo, record.hi, record.maybe}, record.isExact});
  }
  std::vector<Expr> list() {
    std::vector<Expr> exprs;
    for (std::uint32_t left = in.count(); left && !in.failed; --left) exprs.push_back(node());
    return exprs;
  }
  std::vector<std::vector<Expr>> lists() {
    std::vector<std::vector<Expr>> all;
    for (std::uint32_t left = in.count(); left && !in.failed; --left) all.push_back(list());
    return all;
  }
};

} // namespace

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

std::string encode(const Query& query, Ranges& ranges, unsigned milliseconds) {
  Encoder encoder(ranges);
  auto add = [&](const std::vector<Expr>& exprs) {
    for (Expr e : exprs) encoder.add(e);
  };
  add(query.constraints);
  for (const auto& one : query.preferences) add(one);
  for (const auto& one : query.guesses) add(one);
  add(query.noWrap);
  const std::string content = encoder.write(query, milliseconds);
  Writer message;
  message.put(std::uint64_t{content.size()});
  return message.bytes + content;
}

std::unique_ptr<ReceivedQuery> decode(const std::string& bytes) {
  auto result = std::make_unique<ReceivedQuery>();
  Reader in(bytes);
  if (!Decoder(in, *result).run()) return nullptr;
  return result;
}

} // namespace kcheck::analyzer::smt
