#include "analyzer/model/field_names.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

using FieldNames = std::map<std::int64_t, FieldName>;
constexpr std::size_t kMostFields = 256;

/// Of a parameter of the kernel itself; null where nothing says so.
const DIType* typeOf(const llvm::Argument& argument) {
  const llvm::Function& kernel = *argument.getParent();
  for (const Instruction& instruction : instructions(kernel))
    for (const DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
      const DILocalVariable* variable = record.getVariable();
      if (variable->getArg() == argument.getArgNo() + 1 &&
          variable->getScope()->getSubprogram() == kernel.getSubprogram())
        return variable->getType();
    }
  return nullptr;
}

bool isPointer(const DIType* type) {
  const auto* derived = dyn_cast_or_null<DIDerivedType>(type);
  return derived && derived->getTag() == dwarf::DW_TAG_pointer_type;
}

void addFields(const DIType* type, std::int64_t bits, const std::string& name, FieldNames& names);

void addElements(const DICompositeType& array, std::int64_t bits, const std::string& name,
                 FieldNames& names) {
  const auto* range =
      array.getElements().size() == 1 ? dyn_cast<DISubrange>(array.getElements()[0]) : nullptr;
  const auto count = range ? range->getCount() : DISubrange::BoundType();
  const auto* number = dyn_cast_if_present<ConstantInt*>(count);
  if (!number || !number->getSExtValue()) return;
  const std::int64_t each = std::int64_t(array.getSizeInBits()) / number->getSExtValue();
  for (std::int64_t i = 0; i < number->getSExtValue() && names.size() < kMostFields; ++i)
    addFields(array.getBaseType(), bits + i * each, name + "[" + std::to_string(i) + "]", names);
}

void addMembers(const DICompositeType& record, std::int64_t bits, const std::string& name,
                FieldNames& names) {
  for (const DINode* node : record.getElements()) {
    const auto* member = dyn_cast<DIDerivedType>(node);
    if (!member || member->isStaticMember() || member->isBitField()) continue;
    const std::int64_t at = bits + std::int64_t(member->getOffsetInBits());
    const bool isNamed = member->getTag() == dwarf::DW_TAG_member && !member->getName().empty();
    addFields(member->getBaseType(), at, isNamed ? name + "." + member->getName().str() : name, names);
  }
}

/// Without the names that it has been given.
const DIType* plainType(const DIType* type) {
  while (const auto* derived = dyn_cast_or_null<DIDerivedType>(type)) {
    const bool isName = derived->getTag() == dwarf::DW_TAG_typedef ||
                        derived->getTag() == dwarf::DW_TAG_const_type ||
                        derived->getTag() == dwarf::DW_TAG_volatile_type;
    if (!isName) break;
    type = derived->getBaseType();
  }
  return type;
}

void addFields(const DIType* type, std::int64_t bits, const std::string& name, FieldNames& names) {
  type = plainType(type);
  if (names.size() >= kMostFields) return;
  if (isPointer(type)) names.try_emplace(bits / 8, FieldName{name, true, true});
  if (const auto* basic = dyn_cast_or_null<DIBasicType>(type)) {
    const auto sign = basic->getSignedness();
    if (sign) names.try_emplace(bits / 8, FieldName{name, sign == DIBasicType::Signedness::Unsigned});
  } else if (const auto* made = dyn_cast_or_null<DICompositeType>(type)) {
    if (made->getTag() == dwarf::DW_TAG_array_type)
      addElements(*made, bits, name, names);
    else if (made->getTag() == dwarf::DW_TAG_enumeration_type)
      names.try_emplace(bits / 8, FieldName{name});
    else
      addMembers(*made, bits, name, names);
  }
}

} // namespace

std::map<std::int64_t, FieldName> fieldNames(const llvm::Argument& argument, const std::string& parameter) {
  FieldNames names;
  const DIType* type = plainType(typeOf(argument));
  if (!isPointer(type)) {
    addFields(type, 0, parameter, names);
    return names;
  }
  const auto* target = dyn_cast_or_null<DICompositeType>(plainType(cast<DIDerivedType>(type)->getBaseType()));
  if (!target || target->getTag() == dwarf::DW_TAG_array_type) return names;
  addFields(target, 0, "", names);
  for (auto& [at, field] : names) field.name = parameter + "->" + field.name.substr(1);
  return names;
}

} // namespace kcheck::analyzer
