#include "analyzer/traffic/lanes.h"

#include "analyzer/expr/fold.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {
std::uint32_t constantOf(Expr e) { return e && isConst(e) ? std::uint32_t(e->value) : 1; }
} // namespace

LaneProgram::LaneProgram(const KernelModel& model, const std::vector<Expr>& roots)
    : blockDim{constantOf(model.blockDim[0]), constantOf(model.blockDim[1]), constantOf(model.blockDim[2])} {
  std::unordered_map<Expr, unsigned> numbers;
  const auto visit = [&](Expr e) {
    Step step{e, Fixed, false, {0, 0, 0}};
    for (std::size_t i = 0; i < std::min<std::size_t>(e->operands.size(), 3); ++i) {
      step.operands[i] = numbers.at(e->operands[i]);
      const Step& operand = nodes[step.operands[i]];
      step.level = std::max(step.level, operand.level);
      step.byThread |= operand.byThread;
    }
    if (e->op == Op::Apply && why.empty())
      why = e->function->cause.text.empty() ? "what memory holds" : e->function->cause.text;
    if (e->op == Op::Symbol) {
      const Symbol& symbol = *e->symbol;
      symbolNode[&symbol] = unsigned(nodes.size());
      switch (symbol.kind) {
      case SymbolKind::ThreadIdx: step.level = Thread, step.byThread = true; break;
      case SymbolKind::BlockIdx: step.level = Block; break;
      case SymbolKind::LoopCounter:
        step.level = Counter;
        loopCounters.push_back(&symbol);
        break;
      default:
        if (why.empty())
          why = symbol.cause.text.empty() ? "the value of `" + symbol.name + "`" : symbol.cause.text;
      }
      if (!symbol.exact && why.empty()) why = symbol.cause.text;
    }
    numbers.emplace(e, unsigned(nodes.size()));
    byLevel[step.level].push_back(unsigned(nodes.size()));
    nodes.push_back(step);
  };
  for (Expr root : roots) {
    bottomUp(root, [&](Expr e) { return numbers.count(e) != 0; }, visit);
    rootNodes.push_back(numbers.at(root));
  }
  rows.resize(nodes.size());
  if (why.empty()) run(Fixed);
}

void LaneProgram::setBlock(const Dim3& block) {
  const std::uint32_t index[3] = {block.x, block.y, block.z};
  for (auto& [symbol, node] : symbolNode)
    if (symbol->kind == SymbolKind::BlockIdx) rows[node].fill(index[symbol->axis]);
  run(Block);
}

void LaneProgram::setWarp(unsigned warp) {
  const unsigned threads = unsigned(blockDim.volume()), first = warp * kLanes;
  activeLanes = std::min(kLanes, threads - first);
  for (auto& [symbol, node] : symbolNode) {
    if (symbol->kind != SymbolKind::ThreadIdx) continue;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned linear = lane < activeLanes ? first + lane : 0;
      const unsigned index[3] = {linear % blockDim.x, linear / blockDim.x % blockDim.y,
                                 linear / blockDim.x / blockDim.y};
      rows[node][lane] = index[symbol->axis];
    }
  }
  run(Thread);
}

void LaneProgram::setCounters(const std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; i < loopCounters.size(); ++i) rows[symbolNode.at(loopCounters[i])].fill(values[i]);
  run(Counter);
}

void LaneProgram::run(Level level) {
  for (unsigned number : byLevel[level]) {
    const Step& step = nodes[number];
    if (step.node->op != Op::Symbol) compute(step, rows[number]);
  }
}

void LaneProgram::compute(const Step& step, Row& out) const {
  const Expr e = step.node;
  const unsigned count = step.byThread ? kLanes : 1;
  const Row& a = rows[step.operands[0]];
  const Row& b = rows[step.operands[1]];
  const unsigned width = e->operands.empty() ? e->width : e->operands[0]->width;
  switch (e->op) {
  case Op::Const: out[0] = e->value; break;
  case Op::Add:
    for (unsigned i = 0; i < count; ++i)
      out[i] = normalize(std::int64_t(std::uint64_t(a[i]) + std::uint64_t(b[i])), width);
    break;
  case Op::Mul:
    for (unsigned i = 0; i < count; ++i)
      out[i] = normalize(std::int64_t(std::uint64_t(a[i]) * std::uint64_t(b[i])), width);
    break;
  case Op::ZExt:
  case Op::SExt:
  case Op::Trunc:
    for (unsigned i = 0; i < count; ++i) out[i] = foldExtend(e->op, e->width, width, a[i]);
    break;
  case Op::Ite: {
    const Row& c = rows[step.operands[2]];
    for (unsigned i = 0; i < count; ++i) out[i] = a[i] ? b[i] : c[i];
    break;
  }
  default:
    for (unsigned i = 0; i < count; ++i) out[i] = fold(e->op, width, a[i], b[i]);
  }
  if (count == 1) out.fill(out[0]);
}

} // namespace kcheck::analyzer
