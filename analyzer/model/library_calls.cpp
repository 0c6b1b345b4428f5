// Functions of the CUDA headers that reach the module without a body, the math library above all, and
// kcheck's own markers.
#include "analyzer/model/execution.h"
#include "analyzer/model/prepare/member_objects.h"

#include "analyzer/model/integer_functions.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace kcheck::analyzer {

static bool isNormOfArray(const CallInst& call, StringRef name) {
  return (name.starts_with("__nv_norm") || name.starts_with("__nv_rnorm")) && call.arg_size() == 2 &&
         call.getArgOperand(1)->getType()->isPointerTy();
}

void Execution::noteSubscript(const CallInst& call, Expr condition) {
  if (!recording || state.launch.keepsWhole) return;
  const auto number = [&](unsigned i) { return cast<ConstantInt>(call.getArgOperand(i))->getSExtValue(); };
  const auto element = state.objects.places(value(call.getArgOperand(0))),
             array = state.objects.places(value(call.getArgOperand(1)));
  SubscriptCheck& check = subscripts.emplace_back();
  check.bytes = number(2);
  check.isFollowed = element.size() == 1 && array.size() == 1 && element[0].object == array[0].object;
  if (!check.isFollowed) return;
  check.access.object = element[0].object;
  check.access.kind = AccessKind::Read;
  check.access.where = locationOf(call);
  check.access.align = 1;
  check.access.offset = exprs.sub(element[0].offset, array[0].offset, NoSignedWrap);
  check.access.size = exprs.constant(64, number(3));
  check.access.condition = whereDrawn(check.access.offset, condition);
}

/// The math library and the few functions of the CUDA headers that reach the module without a body.
bool Execution::runLibraryCall(const CallInst& call, StringRef name, Expr& condition) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  if (name == kAccessMarker) {
    bool write = cast<ConstantInt>(call.getArgOperand(2))->isOne();
    Expr bytes = argument(1);
    record(call, write ? AccessKind::Write : AccessKind::Read, argument(0), bytes,
           whereNotEmpty(condition, bytes));
    return true;
  }
  if (name == kMember) {
    const auto group = unsigned(cast<ConstantInt>(call.getArgOperand(1))->getZExtValue());
    env[&call] = state.memberOf(argument(0), group, *cast<llvm::Argument>(call.getArgOperand(0)));
    return true;
  }
  if (name == kWithin) {
    noteSubscript(call, condition);
    return true;
  }
  if (name.starts_with("kcheck.") || name == "vprintf" || name == "free") return true;
  if (name == "__kcheck_assumption") { // what kcheck makes of __builtin_assume
    takeForTrue(call, argument(0), condition);
    return true;
  }
  if (name == "__kcheck_array") { // what an annotation says
    promiseArray(call, condition);
    return true;
  }
  if (name == "__assertfail") {
    state.assume((isAssertedInCall(call) ? "what is asserted behind the call at " : "the assertion at ") +
                 state.lineText(call) + " holds");
    condition = exprs.boolean(false);
    return true;
  }
  if (name == "malloc") {
    state.gap(&call, "memory from malloc in a kernel is not followed");
    env[&call] = exprs.add(state.objects.pointerTo(state.objects.unknown()),
                           fresh(&call, "heap", "a heap address", {{}, "memory from malloc"}));
    return true;
  }
  if (name == "__nvvm_reflect") {
    env[&call] = exprs.constant(32, 0);
    return true;
  }
  if (!name.starts_with("__nv_")) return false;
  recordMathPointers(call, name, condition);
  if (!isRelevant(&call)) return true;
  const std::string shown = name.drop_front(5).str();
  Expr result = mathResult(call, name, condition);
  if (!result && isNormOfArray(call, name)) // of what stands in memory
    result = fresh(&call, "norm", "a norm", {{}, "the operation `" + shown + "` at " + state.lineText(call)});
  env[&call] = result ? result : opaque(call, shown);
  return true;
}

/// sincos, frexp, modf and the like return through pointers; norms read arrays.
void Execution::recordMathPointers(const CallInst& call, StringRef name, Expr condition) {
  const unsigned bytesOfReal = name.ends_with("f") && name != "__nv_modf" ? 4 : 8;
  const bool isOfArray = isNormOfArray(call, name);
  const bool givesInteger = name.starts_with("__nv_frexp") || name.starts_with("__nv_remquo");
  for (auto& operand : call.args()) {
    if (!operand->getType()->isPointerTy()) continue;
    if (isOfArray) { // of as many numbers as the first argument says
      Expr count = exprs.extend(Op::SExt, 64, value(call.getArgOperand(0))), none = exprs.constant(64, 0);
      record(call, AccessKind::Read, value(operand), exprs.mul(count, exprs.constant(64, bytesOfReal)),
             exprs.logicalAnd(condition, exprs.binary(Op::Slt, none, count)));
    } else {
      record(call, AccessKind::Write, value(operand), exprs.constant(64, givesInteger ? 4 : bytesOfReal),
             condition);
    }
  }
}

/// Of functions of integers; null where nothing is known about it. What has been counted among lanes may add
/// to the condition.
Expr Execution::mathResult(const CallInst& call, StringRef name, Expr& condition) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  auto minMax = StringSwitch<int>(name)
                    .Cases("__nv_min", "__nv_llmin", 1)
                    .Cases("__nv_max", "__nv_llmax", 2)
                    .Cases("__nv_umin", "__nv_ullmin", 3)
                    .Cases("__nv_umax", "__nv_ullmax", 4)
                    .Default(0);
  if (minMax) return minimumOrMaximum(exprs, argument(0), argument(1), minMax <= 2, minMax % 2 == 1);
  if (name == "__nv_abs" || name == "__nv_llabs") return absoluteValue(exprs, argument(0));
  if (name == "__nv_mulhi" || name == "__nv_umulhi")
    return highProduct(exprs, argument(0), argument(1), name == "__nv_mulhi");
  if (name == "__nv_brev" || name == "__nv_brevll") return reversedBits(exprs, argument(0));
  if (name == "__nv_umul24" || name == "__nv_mul24")
    return exprs.mul(lowest24(exprs, argument(0), name == "__nv_mul24"),
                     lowest24(exprs, argument(1), name == "__nv_mul24"));
  if (StringRef half = name;
      half.consume_front("__nv_") && half.consume_back("hadd")) // hadd, rhadd, uhadd, urhadd
    return halfSum(exprs, argument(0), argument(1), !half.starts_with("u"), half.ends_with("r"));
  if (name == "__nv_sad" || name == "__nv_usad")
    return exprs.add(difference(exprs, argument(0), argument(1), name == "__nv_sad"), argument(2));
  const bool isSameBits =
      StringSwitch<bool>(name)
          .Cases("__nv_int_as_float", "__nv_uint_as_float", "__nv_float_as_int", true)
          .Cases("__nv_float_as_uint", "__nv_longlong_as_double", "__nv_double_as_longlong", true)
          .Default(false);
  if (isSameBits) return argument(0);
  if (name == "__nv_hiloint2double")
    return exprs.binary(
        Op::Or, exprs.binary(Op::Shl, exprs.extend(Op::ZExt, 64, argument(0)), exprs.constant(64, 32)),
        exprs.extend(Op::ZExt, 64, argument(1)));
  if (name == "__nv_double2loint") return exprs.extend(Op::Trunc, 32, argument(0));
  if (name == "__nv_double2hiint")
    return exprs.extend(Op::Trunc, 32, exprs.binary(Op::LShr, argument(0), exprs.constant(64, 32)));
  if (name == "__nv_byte_perm") return permutedBytes(exprs, argument(0), argument(1), argument(2));
  if (name.starts_with("__nv_clz")) return leadingZeros(exprs, argument(0));
  const bool isCount = name.starts_with("__nv_popc");
  if (!isCount && !name.starts_with("__nv_ffs")) return nullptr;
  Expr result = nullptr;
  if (name == "__nv_popc") result = countedLanes(call, condition);
  if (name == "__nv_ffs") result = firstVoter(call, condition);
  if (!result && isCount) result = countedBits(call, argument(0));
  if (!result && causesOf(argument(0)).empty()) result = firstSetBit(exprs, argument(0));
  return result ? result : someSetBit(call, argument(0));
}

/// The lowest bit that is set, counted from 1, of what is not followed: one of so many where there is one.
Expr Execution::someSetBit(const CallInst& call, Expr bits) {
  auto* place =
      state.symbols.function(nullptr, "ffs/" + std::to_string(bits->width), "ffs", bits->width == 64 ? 6 : 5);
  place->exact = false;
  place->cause = {CauseKind::Approximation, "the operation `ffs` at " + state.lineText(call)};
  Expr found = exprs.add(exprs.extend(Op::ZExt, 32, exprs.apply(place, {bits})), exprs.constant(32, 1),
                         NoSignedWrap | NoUnsignedWrap);
  return exprs.ite(exprs.eq(bits, exprs.constant(bits->width, 0)), exprs.constant(32, 0), found);
}

} // namespace kcheck::analyzer
