// The types of a file whose objects device code can call: what a template over a function object may be made
// of.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class FunctionTemplateDecl;
class NamedDecl;
class TemplateTypeParmDecl;
} // namespace clang

namespace kcheck::frontend {

/// As the end of the file may call it.
std::string nameAtEnd(const clang::NamedDecl& decl, const clang::ASTContext& ast);

struct CallableType {
  std::string name;             ///< with `<%>` where it is a template over one type
  unsigned least = 0, most = 0; ///< how many arguments it takes
  bool takes(unsigned arguments) const { return least <= arguments && arguments <= most; }
};

/// Of the user's own code.
std::vector<CallableType> callableTypes(clang::ASTContext& ast);

/// The type parameters of which a template calls an object (`op(a, b)`, `Op()(a, b)`), with the number of
/// arguments.
std::map<const clang::TemplateTypeParmDecl*, unsigned> calledTypes(const clang::FunctionTemplateDecl& made);

} // namespace kcheck::frontend
