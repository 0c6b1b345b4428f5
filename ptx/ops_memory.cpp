// Loads, stores, atomics and fences, with PTX's orders and scopes.
#include "ptx/builder.h"
#include "ptx/read_only.h"

#include <llvm/IR/Constants.h>

namespace kcheck::ptx {

namespace {

using Ordering = llvm::AtomicOrdering;

struct Access {
  Type type;
  unsigned lanes = 1; ///< v2, v4, v8
  std::string space;
  Scope scope = Scope::System;
  std::optional<Ordering> order; ///< absent: weak
  bool isVolatile = false, isReadOnly = false;
};

std::optional<Scope> scopeNamed(const std::string& word) {
  if (word == "cta" || word == "cluster") return Scope::Block;
  if (word == "gpu" || word == "gl") return Scope::Device;
  if (word == "sys") return Scope::System;
  return std::nullopt;
}

std::optional<Ordering> orderNamed(const std::string& word) {
  if (word == "relaxed") return Ordering::Monotonic;
  if (word == "acquire") return Ordering::Acquire;
  if (word == "release") return Ordering::Release;
  if (word == "acq_rel") return Ordering::AcquireRelease;
  if (word == "sc") return Ordering::SequentiallyConsistent;
  return std::nullopt;
}

/// Words after the opcode that say where and how; unknown words are left for the caller.
std::optional<Access> readAccess(const Statement& s) {
  Access access;
  auto type = typeNamed(s.type());
  if (!type) return std::nullopt;
  access.type = *type;
  for (std::size_t i = 1; i + 1 < s.opcode.size(); ++i) {
    const std::string& word = s.opcode[i];
    if (auto scope = scopeNamed(word))
      access.scope = *scope;
    else if (auto order = orderNamed(word))
      access.order = order;
    else if (word == "volatile") // .cg, .cv and their like say how to cache: such an access stays weak
      access.isVolatile = true;
    else if (word == "nc")
      access.isReadOnly = true;
    else if (word == "global" || word == "local" || word == "const" || word.starts_with("shared"))
      access.space = word;
    else if (word == "v2" || word == "v4" || word == "v8")
      access.lanes = unsigned(word[1] - '0');
    else if (word == "param")
      return std::nullopt;
  }
  return access;
}

llvm::Type* memoryType(Builder& p, const Access& access) {
  auto* element = p.b.getIntNTy(access.type.width());
  return access.lanes == 1 ? static_cast<llvm::Type*>(element)
                           : llvm::FixedVectorType::get(element, access.lanes);
}

bool load(Builder& p, const Statement& s) {
  auto access = readAccess(s);
  if (!access || s.operands.size() < 2) return false;
  llvm::Value* address = p.address(s.operands[1], access->space);
  unsigned bytes = access->type.width() / 8;
  auto target = [&](unsigned i) { return access->lanes == 1 ? s.operands[0] : s.operands[0].parts.at(i); };
  if (access->lanes != 1 && s.operands[0].parts.size() != access->lanes) return false;
  if (access->order) { // each element on its own: only that much is guaranteed
    for (unsigned i = 0; i < access->lanes; ++i) {
      auto* place = p.b.CreateConstGEP1_64(p.b.getInt8Ty(), address, i * bytes);
      auto* word = p.load(p.b.getIntNTy(8 * bytes), place, llvm::Align(bytes));
      p.setAtomic(*word, *access->order, access->scope);
      p.write(target(i), word, access->type.isSigned());
    }
    return true;
  }
  auto* all = p.load(memoryType(p, *access), address, llvm::Align(bytes * access->lanes));
  all->setVolatile(access->isVolatile);
  if (access->isReadOnly) markReadOnly(*all);
  for (unsigned i = 0; i < access->lanes; ++i)
    p.write(target(i), access->lanes == 1 ? static_cast<llvm::Value*>(all) : p.b.CreateExtractElement(all, i),
            access->type.isSigned());
  return true;
}

bool store(Builder& p, const Statement& s) {
  auto access = readAccess(s);
  if (!access || s.operands.size() < 2) return false;
  llvm::Value* address = p.address(s.operands[0], access->space);
  unsigned bytes = access->type.width() / 8;
  if (access->lanes != 1 && s.operands[1].parts.size() != access->lanes) return false;
  auto source = [&](unsigned i) {
    return p.bits(access->lanes == 1 ? s.operands[1] : s.operands[1].parts[i], access->type);
  };
  if (access->order) {
    for (unsigned i = 0; i < access->lanes; ++i) {
      auto* place = p.b.CreateConstGEP1_64(p.b.getInt8Ty(), address, i * bytes);
      auto* word = p.store(source(i), place, llvm::Align(bytes));
      p.setAtomic(*word, *access->order, access->scope);
    }
    return true;
  }
  llvm::Value* all = source(0);
  if (access->lanes != 1) {
    all = llvm::PoisonValue::get(memoryType(p, *access));
    for (unsigned i = 0; i < access->lanes; ++i) all = p.b.CreateInsertElement(all, source(i), i);
  }
  p.store(all, address, llvm::Align(bytes * access->lanes))->setVolatile(access->isVolatile);
  return true;
}

std::optional<llvm::AtomicRMWInst::BinOp> operationOf(const Statement& s, const Type& type) {
  using Op = llvm::AtomicRMWInst::BinOp;
  if (s.has("add")) return type.isFloat() ? Op::FAdd : Op::Add;
  if (s.has("and")) return Op::And;
  if (s.has("or")) return Op::Or;
  if (s.has("xor")) return Op::Xor;
  if (s.has("exch")) return Op::Xchg;
  if (s.has("inc")) return Op::UIncWrap;
  if (s.has("dec")) return Op::UDecWrap;
  if (s.has("min")) return type.isFloat() ? Op::FMin : type.isSigned() ? Op::Min : Op::UMin;
  if (s.has("max")) return type.isFloat() ? Op::FMax : type.isSigned() ? Op::Max : Op::UMax;
  return std::nullopt;
}

llvm::Type* atomicType(Builder& p, const Type& type) {
  if (!type.isFloat()) return p.b.getIntNTy(type.bits);
  if (type.kind == Type::Kind::BFloat) return p.b.getBFloatTy();
  return type.bits == 64 ? p.b.getDoubleTy() : type.bits == 32 ? p.b.getFloatTy() : p.b.getHalfTy();
}

/// One register's worth of an update; pairs of halves are two atomics, as PTX has it. The old content.
llvm::Value* updateElement(Builder& p, llvm::AtomicRMWInst::BinOp operation, const Type& type,
                           llvm::Value* address, llvm::Value* whole, Ordering order, Scope scope) {
  llvm::Value* old = llvm::ConstantInt::get(whole->getType(), 0);
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    auto* part = p.b.CreateTrunc(p.b.CreateLShr(whole, lane * type.bits), p.b.getIntNTy(type.bits));
    auto* place = p.b.CreateConstGEP1_64(p.b.getInt8Ty(), address, lane * type.bits / 8);
    auto* before = p.update(operation, place, p.b.CreateBitCast(part, atomicType(p, type)), order, scope);
    auto* bits = p.b.CreateZExt(p.b.CreateBitCast(before, part->getType()), whole->getType());
    old = p.b.CreateOr(old, p.b.CreateShl(bits, lane * type.bits));
  }
  return old;
}

/// atom d, [a], b and red [a], b; of `{x, y}` each element is an atomic of its own.
bool update(Builder& p, const Statement& s) {
  auto access = readAccess(s);
  bool returns = s.opcode[0] == "atom";
  std::size_t at = returns ? 1 : 0;
  if (!access || s.operands.size() < at + 2) return false;
  Ordering order = access->order.value_or(Ordering::Monotonic);
  Scope scope = s.has("sys")                       ? Scope::System
                : s.has("cta") || s.has("cluster") ? Scope::Block
                                                   : Scope::Device;
  llvm::Value* address = p.address(s.operands[at], access->space);
  if (s.has("cas")) {
    if (s.operands.size() != at + 3 || !returns || access->lanes != 1) return false;
    p.write(s.operands[0], p.compareExchange(address, p.bits(s.operands[at + 1], access->type),
                                             p.bits(s.operands[at + 2], access->type), order, scope));
    return true;
  }
  const Type& type = access->type;
  auto operation = operationOf(s, type);
  if (!operation || (type.width() > 64 && !s.has("exch")) || (type.isNarrowFloat() && !s.has("add")))
    return false;
  if (access->lanes == 1) {
    auto* old = updateElement(p, *operation, type, address, p.bits(s.operands[at + 1], type), order, scope);
    if (returns) p.write(s.operands[0], old, type.isSigned());
    return true;
  }
  if (s.operands[at + 1].parts.size() != access->lanes ||
      (returns && s.operands[0].parts.size() != access->lanes))
    return false;
  for (unsigned i = 0; i < access->lanes; ++i) {
    auto* place = p.b.CreateConstGEP1_64(p.b.getInt8Ty(), address, i * type.width() / 8);
    auto* whole = p.bits(s.operands[at + 1].parts[i], type);
    auto* old = updateElement(p, *operation, type, place, whole, order, scope);
    if (returns) p.write(s.operands[0].parts[i], old);
  }
  return true;
}

/// fence{.sc,.acq_rel}.SCOPE and membar.SCOPE. Proxy fences order engines that are not simulated.
bool fence(Builder& p, const Statement& s) {
  if (s.has("proxy") || s.has("mbarrier_init")) return true;
  std::optional<Scope> scope;
  std::optional<Ordering> order;
  for (std::size_t i = 1; i < s.opcode.size(); ++i) {
    if (auto named = scopeNamed(s.opcode[i])) scope = named;
    if (auto named = orderNamed(s.opcode[i])) order = named;
  }
  if (!scope) return false;
  p.fence(order.value_or(Ordering::SequentiallyConsistent), *scope);
  return true;
}

bool hint(Builder&, const Statement&) { return true; }

bool policy(Builder& p, const Statement& s) {
  if (s.operands.empty()) return false;
  p.write(s.operands[0], p.b.getInt64(0));
  return true;
}

} // namespace

void addMemory(Rules& rules) {
  rules["ld"] = rules["ldu"] = load;
  rules["st"] = store;
  rules["atom"] = rules["red"] = update;
  rules["fence"] = rules["membar"] = fence;
  rules["createpolicy"] = policy;
  for (const char* op : {"prefetch", "prefetchu", "discard", "applypriority"}) rules[op] = hint;
}

} // namespace kcheck::ptx
