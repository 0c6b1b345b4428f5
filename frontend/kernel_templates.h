// Kernels that are templates of which a file without main has no instance: kcheck makes one, of stated types,
// which the kernel's name in the report shows.
#pragma once

#include <string>
#include <vector>

namespace clang {
class ASTContext;
} // namespace clang

namespace kcheck::frontend {

struct KernelTemplate {
  std::string name; ///< as the end of the file may call it
  unsigned line = 0, column = 0;
  /// What each parameter without default may be, the likeliest first: `%` stands for a plain type, `#` for a
  /// number. Types of the file that device code can call are there by name, with `%` where they are
  /// templates.
  std::vector<std::vector<std::string>> arguments;
  std::vector<std::string> numbers; ///< to try, the likeliest first
  bool canBeNamed = true;           ///< its parameters are types, numbers and truth values
};

/// Those of the user's own code that are defined and never used.
std::vector<KernelTemplate> unusedTemplates(clang::ASTContext& ast);

/// Declarations for the end of the file, each of which makes an instance, the likeliest first.
std::vector<std::string> instancesOf(const KernelTemplate& made, std::size_t number);

} // namespace kcheck::frontend
