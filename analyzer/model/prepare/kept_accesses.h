// What keeps accesses of the source in sight while LLVM makes scalars of the kernels' locals.
#pragma once

#include "analyzer/model/prepare/prepare.h"

#include <map>
#include <tuple>

namespace llvm {
class MDNode;
} // namespace llvm

namespace kcheck::analyzer {

/// A struct passed by value becomes a local copy, so that scalar promotion sees its fields.
void copyStructParameters(llvm::Function& kernel);

/// Copies between a local and other memory: the other side's access must survive when the local goes.
void markCopies(llvm::Function& kernel, PreparedModule& prepared);

/// Scalar promotion deletes accesses at constant offsets outside a local array. Where there is one the array
/// is kept, by letting its address escape.
void pinOverrunLocals(llvm::Function& kernel);

/// Promotion splits the accesses of a copied structure and leaves the pieces without their site. Where one
/// site alone stands at their place, they are told as pieces of it.
class SitesByPlace {
public:
  explicit SitesByPlace(const llvm::Module& module);
  void giveBack(llvm::Module& module) const;

private:
  using Key = std::tuple<const llvm::Function*, const llvm::DILocation*, unsigned>;
  static Key keyOf(const llvm::Instruction& instruction);
  std::map<Key, llvm::MDNode*> sites;
};

} // namespace kcheck::analyzer
