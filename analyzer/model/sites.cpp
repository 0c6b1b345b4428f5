#include "analyzer/model/sites.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kcheck::analyzer {

SiteId siteOf(const Instruction& instruction, bool readSide) {
  MDNode* node = readSide ? instruction.getMetadata(kSourceSiteMetadata) : nullptr;
  if (!node) node = instruction.getMetadata(kSiteMetadata);
  if (!node || node->getNumOperands() == 0) return kNoSite;
  auto* number = mdconst::dyn_extract<ConstantInt>(node->getOperand(0));
  return number ? SiteId(number->getZExtValue()) : kNoSite;
}

SiteId wholeOf(const Instruction& instruction) {
  auto* node = instruction.getMetadata(kPieceMetadata);
  return node ? SiteId(mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue()) : kNoSite;
}

Location locationOf(const Instruction& instruction) {
  const DILocation* place = instruction.getDebugLoc();
  if (!place) return {};
  while (const DILocation* caller = place->getInlinedAt()) place = caller;
  return {place->getFilename().str(), place->getLine(), place->getColumn(), 0};
}

bool isAssertedInCall(const Instruction& assertion) {
  const DILocation* place = assertion.getDebugLoc();
  // `assert` itself calls a function.
  if (place && place->getScope()->getSubprogram()->getName().starts_with("__assert"))
    place = place->getInlinedAt();
  return place && place->getInlinedAt();
}

} // namespace kcheck::analyzer
