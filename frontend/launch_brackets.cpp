// Finds configurations by their first bracket: `<<` and `<` follow each other nowhere else, but after
// `operator`.
#include "frontend/launch_brackets.h"

namespace kcheck::frontend {
namespace {

constexpr int kSizes = 2; ///< the arguments of a configuration that are a dim3

struct Configuration {
  std::size_t closing = 0;         ///< index of the `>>` of its `>>>`; 0 where it was not found
  std::vector<std::size_t> braces; ///< indices of the `{` that begin a size
};

Configuration readConfiguration(const std::vector<RawToken>& tokens, std::size_t first) {
  Configuration found;
  int depth = 0, argument = 0;
  for (std::size_t i = first; i + 1 < tokens.size(); ++i) {
    const llvm::StringRef token = tokens[i].text;
    const bool begins = i == first || tokens[i - 1].text == ",";
    if (depth == 0 && token == "{" && begins && argument < kSizes) found.braces.push_back(i);
    if (depth == 0 && token == ",") ++argument;
    if (token == "(" || token == "[" || token == "{") ++depth;
    if (token == ")" || token == "]" || token == "}") --depth;
    if (depth < 0 || token == ";") return {};
    if (depth == 0 && token.starts_with("<")) return found; // which `>` is whose is no longer plain
    if (depth == 0 && token == ">>" && tokens[i + 1].text == ">") {
      found.closing = i;
      return found;
    }
  }
  return {};
}

/// `<< <` becomes `<<< `, where blanks alone stand between.
void join(std::string& text, const RawToken& pair, const RawToken& single) {
  const std::size_t behind = pair.offset + pair.text.size();
  const llvm::StringRef gap = llvm::StringRef(text).slice(behind, single.offset);
  if (gap.empty() || gap.find_first_not_of(" \t") != llvm::StringRef::npos) return;
  text[single.offset] = ' ';
  text[behind] = pair.text[0];
}

} // namespace

void adaptLaunches(const std::vector<RawToken>& tokens, std::string& adapted) {
  std::vector<std::size_t> braces;
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    if (tokens[i].text != "<<" || tokens[i + 1].text != "<" || tokens[i - 1].text == "operator") continue;
    const Configuration configuration = readConfiguration(tokens, i + 2);
    join(adapted, tokens[i], tokens[i + 1]);
    if (configuration.closing)
      join(adapted, tokens[configuration.closing], tokens[configuration.closing + 1]);
    for (const std::size_t brace : configuration.braces) braces.push_back(tokens[brace].offset);
  }
  for (auto brace = braces.rbegin(); brace != braces.rend(); ++brace) adapted.insert(*brace, "dim3");
}

} // namespace kcheck::frontend
