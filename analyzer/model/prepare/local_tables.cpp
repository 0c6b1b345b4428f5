// `int* rows[2] = {a, b}; ... rows[j][i]` and `const int dx[4] = {...}; ... dx[j]`. Runs on LLVM's code,
// after scalar promotion, which takes the arrays that are read at fixed places only. Sound because every
// write to the array dominates the read: then the last write to each place before the read is the last in the
// order of dominance, and what it wrote has still the value that it had.
#include "analyzer/model/prepare/local_tables.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/Utils/Local.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::uint64_t kMostEntries = 32;

/// A write of bytes `at`..`at + bytes` of the table.
struct Filling {
  Instruction* instruction;
  std::uint64_t at, bytes;
};

class LocalTable {
public:
  LocalTable(AllocaInst& table, const DominatorTree& dominators)
      : table(table), dominators(dominators), layout(table.getDataLayout()) {
    auto size = table.getAllocationSize(layout);
    if (size && !size->isScalable()) bytes = size->getFixedValue();
  }

  void read() {
    if (bytes == 0 || !collect(&table)) return;
    std::sort(fillings.begin(), fillings.end(), [&](const Filling& x, const Filling& y) {
      return x.instruction != y.instruction && dominators.dominates(x.instruction, y.instruction);
    });
    for (LoadInst* load : reads) {
      bool follows = std::all_of(fillings.begin(), fillings.end(), [&](const Filling& filling) {
        return dominators.dominates(filling.instruction, load);
      });
      if (follows && !fillings.empty()) replace(*load);
    }
  }

private:
  /// The writes and the reads, through all pointers made from `pointer`. False where the
  /// table is used in other ways.
  bool collect(Value* pointer) {
    for (User* user : pointer->users()) {
      auto* instruction = dyn_cast<Instruction>(user);
      if (!instruction) return false;
      if (isa<GetElementPtrInst>(instruction) || isa<AddrSpaceCastInst>(instruction)) {
        if (!collect(instruction)) return false;
        continue;
      }
      if (auto* load = dyn_cast<LoadInst>(instruction)) {
        if (load->isVolatile()) return false;
        reads.push_back(load);
        continue;
      }
      if (auto* store = dyn_cast<StoreInst>(instruction)) {
        auto at = placeOf(store->getPointerOperand());
        if (!at || store->isVolatile() || store->getValueOperand() == pointer) return false;
        fillings.push_back(
            {store, *at, layout.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue()});
        continue;
      }
      if (isa<LifetimeIntrinsic>(instruction) || isa<DbgInfoIntrinsic>(instruction)) continue;
      auto* whole = dyn_cast<MemIntrinsic>(instruction);
      auto* length = whole ? dyn_cast<ConstantInt>(whole->getLength()) : nullptr;
      auto at = whole ? placeOf(whole->getRawDest()) : std::nullopt;
      if (!length || !at || whole->isVolatile()) return false;
      if (auto* copy = dyn_cast<MemTransferInst>(whole); copy && !sourceOf(*copy)) return false;
      fillings.push_back({whole, *at, length->getZExtValue()});
    }
    return true;
  }

  /// The fixed place in the table that the pointer means.
  std::optional<std::uint64_t> placeOf(Value* pointer) const {
    APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    if (base->stripPointerCasts() != &table || offset.isNegative()) return {};
    return offset.getZExtValue();
  }

  /// A constant, or a structure that is a parameter: what nobody writes. Null where it is something else.
  static Value* sourceOf(const MemTransferInst& copy) {
    Value* source = copy.getRawSource()->stripPointerCasts();
    if (auto* argument = dyn_cast<Argument>(source)) return argument->hasByValAttr() ? source : nullptr;
    auto* variable = dyn_cast<GlobalVariable>(source);
    return variable && variable->isConstant() && variable->hasDefinitiveInitializer() ? source : nullptr;
  }

  static Value* contentOf(Value* source, std::uint64_t at, Type* type, const DataLayout& layout,
                          IRBuilder<>& builder) {
    if (auto* variable = dyn_cast<GlobalVariable>(source))
      return ConstantFoldLoadFromConst(variable->getInitializer(), type, APInt(64, at), layout);
    return builder.CreateLoad(type, builder.CreatePtrAdd(source, builder.getInt64(at)));
  }

  /// What the table holds at `at` when all writes are done; null where that is not one value of the type.
  Value* contentAt(std::uint64_t at, Type* type, IRBuilder<>& builder) const {
    std::uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
    for (auto last = fillings.rbegin(); last != fillings.rend(); ++last) {
      if (last->at + last->bytes <= at || at + size <= last->at) continue;
      if (at < last->at || at + size > last->at + last->bytes) return nullptr;
      if (auto* store = dyn_cast<StoreInst>(last->instruction)) {
        Value* stored = store->getValueOperand();
        return last->at == at && stored->getType() == type ? stored : nullptr;
      }
      if (auto* copy = dyn_cast<MemTransferInst>(last->instruction))
        return contentOf(sourceOf(*copy), at - last->at, type, layout, builder);
      auto* byte = dyn_cast<ConstantInt>(cast<MemSetInst>(last->instruction)->getValue());
      return byte && byte->isZero() ? Constant::getNullValue(type) : nullptr;
    }
    return nullptr;
  }

  void replace(LoadInst& load) const {
    Type* type = load.getType();
    if (!type->isIntegerTy() && !type->isPointerTy()) return;
    std::uint64_t step = layout.getTypeStoreSize(type).getFixedValue();
    if (step == 0 || bytes / step > kMostEntries) return;
    IRBuilder<> builder(load.getNextNode());
    builder.SetCurrentDebugLocation(load.getDebugLoc());
    if (auto at = placeOf(load.getPointerOperand())) {
      if (Value* entry = *at + step <= bytes ? contentAt(*at, type, builder) : nullptr)
        load.replaceAllUsesWith(entry);
      return;
    }
    Value* place = nullptr;
    for (Value* pointer = load.getPointerOperand(); pointer != &table;) {
      if (auto* element = dyn_cast<GetElementPtrInst>(pointer)) {
        Value* offset =
            builder.CreateSExtOrTrunc(emitGEPOffset(&builder, layout, element), builder.getInt64Ty());
        place = place ? builder.CreateAdd(place, offset) : offset;
        pointer = element->getPointerOperand();
      } else {
        pointer = cast<AddrSpaceCastInst>(pointer)->getPointerOperand();
      }
    }
    if (!place) return;
    std::vector<Use*> uses;
    for (Use& use : load.uses()) uses.push_back(&use);
    Value* content = &load;
    bool isWhole = bytes % step == 0;
    std::vector<std::pair<std::uint64_t, Value*>> entries;
    for (std::uint64_t at = 0; at + step <= bytes; at += step) {
      Value* entry = contentAt(at, type, builder);
      isWhole = isWhole && entry;
      if (entry) entries.emplace_back(at, entry);
    }
    if (entries.empty()) return;
    if (isWhole) { // a place outside of the table is a finding of its own
      content = entries.back().second;
      entries.pop_back();
    }
    for (auto& [at, entry] : entries)
      content = builder.CreateSelect(builder.CreateICmpEQ(place, builder.getInt64(at)), entry, content);
    for (Use* use : uses) use->set(content);
  }

  AllocaInst& table;
  const DominatorTree& dominators;
  const DataLayout& layout;
  std::uint64_t bytes = 0;
  std::vector<Filling> fillings;
  std::vector<LoadInst*> reads;
};

} // namespace

void readLocalTables(llvm::Function& kernel) {
  std::vector<AllocaInst*> tables;
  for (Instruction& instruction : instructions(kernel))
    if (auto* table = dyn_cast<AllocaInst>(&instruction)) tables.push_back(table);
  if (tables.empty()) return;
  DominatorTree dominators(kernel);
  for (AllocaInst* table : tables) LocalTable(*table, dominators).read();
}

} // namespace kcheck::analyzer
