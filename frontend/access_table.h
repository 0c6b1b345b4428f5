// The memory accesses of one function as its source shows them, for matching with instructions by line and
// column.
#pragma once

#include "report/program.h"

#include <map>

namespace clang {
class ASTContext;
class FunctionDecl;
} // namespace clang

namespace kcheck::frontend {

/// One access of the source. A call stands for whatever its callee does through its pointer argument.
struct SourceAccess {
  AccessKind kind = AccessKind::Read;
  bool isCall = false;
  bool isArgument = false; ///< stands where a call's argument computes an address; `where` is the call
  std::uint64_t bytes = 0; ///< 0: unknown
  Location where;          ///< of the whole expression
  std::string expr, array;
  std::string updates; ///< `*` of `x *= 2`
  bool isBitField = false;
  ValueType type = ValueType::Other;
  std::uint32_t typeBytes = 0; ///< of a value of the type
  bool taken = false;          ///< an instruction has been matched with it
  SiteId site = kNoSite;       ///< of that instruction
};

class AccessTable {
public:
  AccessTable(const clang::FunctionDecl& decl, const clang::ASTContext& ast);

  /// The next access of this kind at a place, in order of evaluation; null when the source shows none.
  SourceAccess* match(unsigned line, unsigned column, AccessKind kind, std::uint64_t bytes, bool inlined);

  /// The argument of a call whose address is computed at a place.
  SourceAccess* matchArgument(unsigned line, unsigned column);

private:
  std::map<std::pair<unsigned, unsigned>, std::vector<SourceAccess>> places;
};

} // namespace kcheck::frontend
