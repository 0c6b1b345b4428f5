// Numbers access sites: instruction by instruction, each matched with the access that the source shows at its
// line and column.
#include "frontend/sites.h"

#include "frontend/access_table.h"
#include "frontend/lower_copies.h"
#include "frontend/memory_operation.h"
#include "frontend/pretty.h"
#include "frontend/private_memory.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace kcheck::frontend {
namespace {

/// Numbers the sites of one function.
class FunctionSites {
public:
  FunctionSites(llvm::Function& function, const clang::FunctionDecl* decl, const clang::ASTContext& ast,
                std::vector<Site>& sites)
      : function(function), sites(sites) {
    if (decl) {
      table.emplace(*decl, ast);
      name = prettyName(*decl);
      inSystemHeader = ast.getSourceManager().isInSystemHeader(decl->getLocation());
    } else {
      name = function.getName().str();
    }
  }

  void run() {
    PrivateMemory isPrivate;
    lowerReturnedStructures(function);
    lowerSmallCopies(function, [&](const llvm::Value* address) { return isPrivate(address); });
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const std::vector<MemoryOperation> operations = memoryOperations(instruction);
      bool first = true;
      for (const MemoryOperation& operation : operations) {
        if (operation.address && isPrivate(operation.address)) {
          findAccess(instruction,
                     operation); // `pp` of `pp[i]`: used up, so that the next match is `pp[i]` itself
          continue;
        }
        const SiteId id = siteFor(instruction, operation);
        attach(instruction, first ? kSiteMetadata : kSourceSiteMetadata, id);
        first = false;
      }
    }
  }

private:
  SiteId siteFor(const llvm::Instruction& instruction, const MemoryOperation& operation) {
    Site site;
    site.kind = operation.kind;
    site.bytes = std::uint32_t(operation.bytes);
    site.function = name;
    site.inSystemHeader = inSystemHeader;
    site.id = SiteId(sites.size());
    if (const llvm::DILocation* at = userLocation(instruction))
      site.where = {at->getFilename().str(), at->getLine(), at->getColumn(), 0};
    if (SourceAccess* access = findAccess(instruction, operation)) {
      if (sharesSite(*access, operation)) return access->site;
      access->site = site.id;
      site.where = access->where;
      site.expr = access->expr;
      site.array = access->array;
      site.isBitField = access->isBitField;
      site.updates = access->updates;
      site.type = access->type;
      site.typeBytes = access->typeBytes;
    }
    sites.push_back(std::move(site));
    return sites.back().id;
  }

  /// In this function, of the call that brought an inlined instruction here.
  static const llvm::DILocation* userLocation(const llvm::Instruction& instruction) {
    const llvm::DILocation* at = instruction.getDebugLoc();
    while (at && at->getInlinedAt()) at = at->getInlinedAt();
    return at;
  }

  /// Where the user's own code computes the address that inlined code accesses.
  static const llvm::DILocation* argumentLocation(const llvm::Value* address) {
    for (unsigned steps = 0; address && steps < 16; ++steps) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(address);
      if (!instruction) return nullptr;
      const llvm::DILocation* at = instruction->getDebugLoc();
      if (at && !at->getInlinedAt()) return at;
      if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction))
        address = gep->getPointerOperand();
      else if (llvm::isa<llvm::CastInst>(instruction))
        address = instruction->getOperand(0);
      else
        return nullptr;
    }
    return nullptr;
  }

  SourceAccess* findAccess(const llvm::Instruction& instruction, const MemoryOperation& operation) {
    const llvm::DILocation* at = userLocation(instruction);
    if (!at || !table) return nullptr;
    const bool inlined = at != instruction.getDebugLoc().get();
    if (const llvm::DILocation* computed = inlined ? argumentLocation(operation.address) : nullptr)
      if (SourceAccess* access = table->matchArgument(computed->getLine(), computed->getColumn()))
        return access;
    return table->match(at->getLine(), at->getColumn(), operation.kind, operation.bytes, inlined);
  }

  /// The pieces of one copied object are one access of the source.
  bool sharesSite(const SourceAccess& access, const MemoryOperation& operation) const {
    return !access.isCall && !access.isArgument && access.site != kNoSite &&
           sites[access.site].bytes == operation.bytes;
  }

  static void attach(llvm::Instruction& instruction, const char* kind, SiteId id) {
    llvm::LLVMContext& context = instruction.getContext();
    llvm::Metadata* number =
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), id));
    instruction.setMetadata(kind, llvm::MDNode::get(context, number));
  }

  llvm::Function& function;
  std::vector<Site>& sites;
  std::optional<AccessTable> table;
  std::string name;
  bool inSystemHeader = false;
};

} // namespace

std::vector<Site> numberSites(llvm::Module& module, const clang::ASTContext& ast, const DeclLookup& lookup) {
  std::vector<Site> sites;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) FunctionSites(function, lookup(function.getName()), ast, sites).run();
  return sites;
}

} // namespace kcheck::frontend
