// Launch dimensions and kernel parameters as expressions: constants where the launch fixes them, else
// symbols.
#include "analyzer/model/parameters.h"

#include "analyzer/formula_variables.h"
#include "analyzer/model/field_names.h"
#include "analyzer/model/kernel_state.h"
#include "report/assumptions.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

namespace {
constexpr std::uint32_t kMaxBlock[3] = {1024, 1024, 64};
constexpr std::uint32_t kMaxGrid[3] = {2147483647, 65535, 65535};
const char* const kAxis[3] = {".x", ".y", ".z"};

struct Index {
  Expr index, extent;
};

Index makeIndex(KernelState& state, const std::string& indexName, const std::string& extentName,
                unsigned axis, SymbolKind indexKind, SymbolKind extentKind,
                std::optional<std::uint32_t> fixed, std::uint32_t most) {
  ExprContext& exprs = state.exprs;
  Index result;
  if (fixed)
    result.extent = exprs.constant(32, std::int64_t(*fixed));
  else {
    Symbol* extent = state.symbols.plain(extentName + kAxis[axis], 32, extentKind, 1, most);
    extent->axis = axis;
    result.extent = exprs.of(extent);
  }
  if (fixed && *fixed == 1) {
    result.index = exprs.constant(32, 0);
    return result;
  }
  Symbol* index =
      state.symbols.plain(indexName + kAxis[axis], 32, indexKind, 0, Int(fixed ? *fixed : most) - 1);
  index->axis = axis;
  index->varies = indexKind == SymbolKind::ThreadIdx ? Varies::ByThread : Varies::ByBlock;
  result.index = exprs.of(index);
  if (!fixed) state.model.facts.push_back(exprs.binary(Op::Ult, result.index, result.extent));
  return result;
}
} // namespace

namespace {

Expr formulaValue(KernelState& state, const Formula& formula);

/// Whether it is not 0.
Expr formulaTruth(KernelState& state, const Formula& formula) {
  ExprContext& exprs = state.exprs;
  const auto value = [&](std::size_t operand) { return formulaValue(state, formula.operands[operand]); };
  const auto truth = [&](std::size_t operand) { return formulaTruth(state, formula.operands[operand]); };
  switch (formula.op) {
  case Formula::Op::Less: return exprs.binary(Op::Slt, value(0), value(1));
  case Formula::Op::Equal: return exprs.eq(value(0), value(1));
  case Formula::Op::Not: return exprs.logicalNot(truth(0));
  case Formula::Op::And: return exprs.logicalAnd(truth(0), truth(1));
  case Formula::Op::Or: return exprs.logicalOr(truth(0), truth(1));
  default: return exprs.logicalNot(exprs.eq(formulaValue(state, formula), exprs.constant(64, 0)));
  }
}

/// A formula of host code as a 64-bit number. Its variables may have any value that fits an int and is not
/// negative.
Expr formulaValue(KernelState& state, const Formula& formula) {
  ExprContext& exprs = state.exprs;
  if (formula.op != Formula::Op::Variable && !formula.variable.empty())
    state.assume(std::string(kHostComputes) + formula.variable + "` fits its type");
  if (formula.op == Formula::Op::Constant) return exprs.constant(64, formula.constant);
  if (formula.op == Formula::Op::Variable) {
    Symbol* symbol = state.symbols.get(nullptr, "host variable " + std::to_string(formula.number), {},
                                       formula.variable, 64, SymbolKind::Parameter);
    symbol->varies = Varies::Never;
    symbol->lo = 0;
    symbol->hi = formula.most;
    symbol->exact = false;
    symbol->cause = {CauseKind::AnyInput,
                     "some value of `" + formula.variable + "`, which the host computes"};
    state.assume(smallOfHost(formula.variable));
    return exprs.of(symbol);
  }
  if (formula.op == Formula::Op::Choice)
    return exprs.ite(formulaTruth(state, formula.operands[0]), formulaValue(state, formula.operands[1]),
                     formulaValue(state, formula.operands[2]));
  if (formula.op >= Formula::Op::Less) return exprs.extend(Op::ZExt, 64, formulaTruth(state, formula));
  Expr a = formulaValue(state, formula.operands[0]), b = formulaValue(state, formula.operands[1]);
  switch (formula.op) {
  case Formula::Op::Add: return exprs.add(a, b, NoSignedWrap);
  case Formula::Op::Sub: return exprs.sub(a, b, NoSignedWrap);
  case Formula::Op::Mul: return exprs.mul(a, b, NoSignedWrap);
  case Formula::Op::Rem: return exprs.binary(Op::SRem, a, b);
  default: return exprs.binary(Op::SDiv, a, b);
  }
}

bool hasChoice(const Formula& formula) {
  return formula.op == Formula::Op::Choice || std::ranges::any_of(formula.operands, hasChoice);
}

/// What is free of the shape follows the host's formulas: of the block, where they say how it goes with the
/// grid or with what the kernel is given, or choose. Else they say no more than that some size comes.
void bindShape(KernelState& state) {
  const Launch* launch = state.launch.launch;
  if (!launch) return;
  ExprContext& exprs = state.exprs;
  const auto bind = [&](Expr extent, const std::optional<Formula>& formula) {
    if (formula && extent->op != Op::Const)
      state.model.facts.push_back(
          exprs.eq(exprs.extend(Op::ZExt, 64, extent), formulaValue(state, *formula)));
  };
  std::set<unsigned> given = variablesOfNumbers(*launch);
  given.merge(variablesOfSizes(*launch, state.facts.allocations));
  for (const Formula& condition : launch->conditions) {
    given.merge(variablesOf(condition));
    state.model.facts.push_back(formulaTruth(state, condition));
  }
  for (const auto& ofGrid : launch->gridFormulas)
    if (ofGrid) given.merge(variablesOf(*ofGrid));
  for (unsigned axis = 0; axis < 3; ++axis) {
    bind(state.model.gridDim[axis], launch->gridFormulas[axis]);
    const auto& ofBlock = launch->blockFormulas[axis];
    const auto isGiven = [&](unsigned number) { return given.contains(number); };
    if (ofBlock && (hasChoice(*ofBlock) || std::ranges::any_of(variablesOf(*ofBlock), isGiven)))
      bind(state.model.blockDim[axis], ofBlock);
  }
}

} // namespace

void setUpShape(KernelState& state) {
  KernelModel& model = state.model;
  ExprContext& exprs = state.exprs;
  const LaunchCase& launch = state.launch;
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::uint32_t most = axis == 0 ? launch.mostThreads.value_or(kMaxBlock[0]) : kMaxBlock[axis];
    Index thread = makeIndex(state, "threadIdx", "blockDim", axis, SymbolKind::ThreadIdx,
                             SymbolKind::BlockDim, launch.block[axis], most);
    Index block = makeIndex(state, "blockIdx", "gridDim", axis, SymbolKind::BlockIdx, SymbolKind::GridDim,
                            launch.grid[axis], kMaxGrid[axis]);
    model.threadIdx[axis] = thread.index;
    model.blockDim[axis] = thread.extent;
    model.blockIdx[axis] = block.index;
    model.gridDim[axis] = block.extent;
  }
  bindShape(state);
  if (launch.isOfProgram() && !(launch.fixedBlock() && launch.fixedGrid()))
    model.hiddenSize =
        "how large the launch at line " + std::to_string(launch.launch->where.line) + " is in the end";
  if (launch.isOfProgram() && launch.launch->unfollowed.known())
    model.unfollowedAt = "when the condition at line " + std::to_string(launch.launch->unfollowed.line) +
                         " lets the launch come";
  unsigned freeBlockAxes = 0;
  for (unsigned axis = 0; axis < 3; ++axis) freeBlockAxes += !launch.block[axis];
  if (freeBlockAxes > 1) { // at most 1024 threads in a block
    Expr threads = exprs.constant(64, 1);
    for (auto* extent : model.blockDim)
      threads = exprs.mul(threads, exprs.extend(Op::ZExt, 64, extent), NoSignedWrap);
    model.facts.push_back(exprs.binary(Op::Ule, threads, exprs.constant(64, 1024)));
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (launch.block[axis] && launch.grid[axis]) continue;
    Expr threads = exprs.mul(exprs.extend(Op::ZExt, 64, model.gridDim[axis]),
                             exprs.extend(Op::ZExt, 64, model.blockDim[axis]), NoSignedWrap);
    model.facts.push_back(exprs.binary(Op::Ule, threads, exprs.constant(64, (std::int64_t(1) << 31) - 1)));
  }
}

namespace {

/// One of the values that a parameter had in the launches of a run, as a 64-bit number.
Expr inRange(KernelState& state, const llvm::Argument& argument, const PassedValue::Range& range,
             const std::string& name) {
  Symbol* index = state.symbols.get(&argument, "passed", {}, name, 64, SymbolKind::Parameter);
  index->varies = Varies::Never;
  index->lo = 0;
  index->hi = range.count - 1;
  index->exact = false;
  index->cause = {CauseKind::Launch, "the value of `" + name + "`, in which the launches differ"};
  ExprContext& exprs = state.exprs;
  Expr steps = exprs.mul(exprs.of(index), exprs.constant(64, range.step), NoSignedWrap);
  return exprs.add(exprs.constant(64, range.least), steps, NoSignedWrap);
}

/// The object that a pointer parameter leads to, and the offset into it.
Expr pointerParameter(KernelState& state, const llvm::Argument& argument, const Parameter& parameter) {
  unsigned number = argument.getArgNo();
  MemoryObject fresh;
  fresh.name = parameter.name.empty() ? "parameter " + std::to_string(number) : parameter.name;
  fresh.elementBytes = unsigned(parameter.elementBytes);
  const kcheck::Argument* given = nullptr;
  if (state.launch.launch && number < state.launch.launch->arguments.size())
    given = &state.launch.launch->arguments[number];
  if (given && given->allocation && *given->allocation < state.facts.allocations.size()) {
    fresh.freed = given->freed;
    Expr base = state.objects.pointerTo(state.allocationObject(*given->allocation, fresh));
    if (given->passed && given->passed->range)
      return state.exprs.add(base, inRange(state, argument, *given->passed->range, fresh.name), NoSignedWrap);
    if (given->byteOffset)
      return state.exprs.add(base, state.exprs.constant(64, *given->byteOffset), NoSignedWrap);
    Symbol* offset =
        state.symbols.get(&argument, "offset", {}, "offset of " + fresh.name, 64, SymbolKind::Unknown);
    offset->varies = Varies::Never;
    offset->exact = false;
    offset->cause = {CauseKind::Launch, "where in its allocation `" + fresh.name + "` points"};
    offset->lo = 0;
    offset->hi = Int(state.facts.allocations[*given->allocation].bytes.value_or(1ull << 40));
    return state.exprs.add(base, state.exprs.of(offset), NoSignedWrap);
  }
  if (state.launch.mayAlias && !argument.hasNoAliasAttr()) {
    std::uint64_t grain = std::max<std::uint64_t>(parameter.elementBytes, 1);
    fresh.name = "memory of the pointer parameters";
    unsigned object = state.objects.object("parameters", fresh);
    Symbol* index =
        state.symbols.get(&argument, "base", {}, "start of " + parameter.name, 64, SymbolKind::Parameter);
    index->varies = Varies::Never;
    index->lo = 0;
    index->hi = Int(1) << 40;
    Expr offset =
        state.exprs.mul(state.exprs.of(index), state.exprs.constant(64, std::int64_t(grain)), NoSignedWrap);
    return state.exprs.add(state.objects.pointerTo(object), offset, NoSignedWrap);
  }
  fresh.isPlaced =
      !state.launch.isOfProgram(); // else it may lead into host memory, or into the middle of an array
  return state.objects.pointerTo(state.objects.object("parameter " + std::to_string(number), fresh));
}

} // namespace

unsigned KernelState::allocationObject(std::size_t number, MemoryObject fresh) {
  const Allocation& allocation = facts.allocations[number];
  fresh.bytes = allocation.bytes;
  if (!allocation.bytes && allocation.formula) fresh.symbolicBytes = formulaValue(*this, *allocation.formula);
  fresh.where = allocation.where;
  fresh.isPlaced = allocation.where.known() || allocation.bytes || allocation.formula;
  const unsigned object = objects.object("allocation " + std::to_string(number), fresh);
  objects[object].symbolicBytes = fresh.symbolicBytes;
  return object;
}

/// Whether another argument of the launch leads to the memory as well, or may.
static bool isPassedTwice(const Launch& launch, unsigned parameter) {
  const auto isOfTwo = [&](const OnePointer& one) {
    return one.first == parameter || one.second == parameter;
  };
  if (std::ranges::any_of(launch.mayBeOne, isOfTwo)) return true;
  const auto& own = launch.arguments[parameter].allocation;
  for (std::size_t number = 0; number < launch.arguments.size(); ++number) {
    const kcheck::Argument& other = launch.arguments[number];
    if (number != parameter && own && other.allocation == own) return true;
    if (own && other.passed &&
        std::ranges::any_of(other.passed->pointers,
                            [&](const PassedValue::Pointer& one) { return one.allocation == *own; }))
      return true;
  }
  return false;
}

Expr KernelState::memberOf(Expr pointer, unsigned group, const llvm::Argument& parameter) {
  if (launch.keepsWhole) return pointer;
  const auto places = objects.places(pointer);
  if (places.size() != 1) return pointer;
  const unsigned number = parameter.getArgNo();
  const std::string& key = objects.keyOf(places[0].object);
  const bool isPassed = launch.launch && number < launch.launch->arguments.size();
  const bool isOwn =
      key == "parameter " + std::to_string(number) || (isPassed && key.starts_with("allocation "));
  if (!isOwn || (isPassed && isPassedTwice(*launch.launch, number))) return pointer;
  const MemoryObject whole = objects[places[0].object];
  const unsigned member = objects.object(key + " member " + std::to_string(group), whole);
  objects[member].bytes = whole.bytes;
  objects[member].symbolicBytes = whole.symbolicBytes;
  return exprs.add(objects.pointerTo(member), places[0].offset, NoSignedWrap);
}

/// An integer as the run passed it. Null when that is not known.
static Expr passedInteger(KernelState& state, const llvm::Argument& argument, const PassedValue& passed,
                          const std::string& name, unsigned width) {
  if (const auto value = passed.integer(0, (width + 7) / 8))
    return state.exprs.constant(width, normalize(*value, width));
  if (!passed.range || width < 8) return nullptr; // true is -1 where one bit has a sign
  Expr value = inRange(state, argument, *passed.range, name);
  return width < 64 ? state.exprs.extend(Op::Trunc, width, value, NoSignedWrap) : value;
}

Expr KernelState::argumentValue(const llvm::Argument& argument) {
  unsigned number = argument.getArgNo();
  Parameter parameter;
  if (number < code.kernel->parameters.size()) parameter = code.kernel->parameters[number];
  if (parameter.name.empty()) parameter.name = "parameter " + std::to_string(number);
  if (argument.hasByValAttr()) {
    MemoryObject fresh;
    fresh.name = parameter.name;
    fresh.space = MemorySpace::Constant;
    fresh.bytes = layout.getTypeAllocSize(argument.getParamByValType()).getFixedValue();
    const unsigned object = objects.object("struct parameter " + std::to_string(number), fresh);
    if (!model.fields.contains(object)) model.fields[object] = fieldNames(argument, parameter.name);
    if (launch.launch && number < launch.launch->arguments.size() && launch.launch->arguments[number].passed)
      passed[object] = &*launch.launch->arguments[number].passed;
    return objects.pointerTo(object);
  }
  if (argument.getType()->isPointerTy()) {
    Expr pointer = pointerParameter(*this, argument, parameter);
    for (const Place& place : objects.places(pointer))
      if (!model.fields.contains(place.object) && isConst(place.offset, 0))
        model.fields[place.object] = fieldNames(argument, parameter.name);
    return pointer;
  }
  unsigned width = widthOf(argument.getType(), layout);
  if (launch.launch && number < launch.launch->arguments.size() && launch.launch->arguments[number].value &&
      argument.getType()->isIntegerTy())
    return exprs.constant(width, normalize(*launch.launch->arguments[number].value, width));
  if (launch.launch && number < launch.launch->arguments.size() && argument.getType()->isIntegerTy())
    if (const auto& given = launch.launch->arguments[number].passed)
      if (Expr value = passedInteger(*this, argument, *given, parameter.name, width)) return value;
  if (launch.launch && number < launch.launch->arguments.size() && argument.getType()->isIntegerTy())
    if (const auto& formula = launch.launch->arguments[number].formula) {
      Expr value = formulaValue(*this, *formula);
      return width < 64 ? exprs.extend(Op::Trunc, width, value, NoSignedWrap) : value;
    }
  if (auto fixed = fixedParameters.find(number); fixed != fixedParameters.end())
    return exprs.constant(width, fixed->second);
  Symbol* symbol = symbols.get(&argument, "parameter", {}, parameter.name, width, SymbolKind::Parameter);
  symbol->varies = Varies::Never;
  if (launch.isOfProgram()) {
    symbol->exact = false;
    symbol->cause = {CauseKind::Launch,
                     "the value of `" + parameter.name + "`, which the launch does not show"};
  }
  return exprs.of(symbol);
}

} // namespace kcheck::analyzer
