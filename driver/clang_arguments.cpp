// Takes the compiler's options out of the command line. See clang_arguments.h.
#include "driver/clang_arguments.h"

#include "driver/nvcc_options.h"

#include <array>
#include <string_view>

namespace kcheck::driver {
namespace {

enum class Spelling { Joined, Separate, JoinedOrSeparate };
struct CompilerOption {
  std::string_view name;
  Spelling spelling;
  bool linker;
};

constexpr std::array<CompilerOption, 13> compilerOptions = {{
    {"-isystem", Spelling::JoinedOrSeparate, false},
    {"-include", Spelling::Separate, false},
    {"-iquote", Spelling::JoinedOrSeparate, false},
    {"-std=", Spelling::Joined, false},
    {"--std=", Spelling::Joined, false},
    {"-x", Spelling::JoinedOrSeparate, false},
    {"-I", Spelling::JoinedOrSeparate, false},
    {"-D", Spelling::JoinedOrSeparate, false},
    {"-U", Spelling::JoinedOrSeparate, false},
    {"-l", Spelling::JoinedOrSeparate, true},
    {"-L", Spelling::JoinedOrSeparate, true},
    {"-O", Spelling::Joined, false},
    {"-f", Spelling::Joined, false},
}};

const CompilerOption* match(std::string_view argument) {
  for (const CompilerOption& option : compilerOptions) {
    bool joined = argument.size() > option.name.size() && argument.starts_with(option.name);
    if (argument == option.name || (joined && option.spelling != Spelling::Separate)) return &option;
  }
  return nullptr;
}

} // namespace

OrError<SplitArguments> splitArguments(const std::vector<std::string>& arguments) {
  SplitArguments split;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      split.program.assign(arguments.begin() + i + 1, arguments.end());
      break;
    }
    if (auto nvccs = nvccOption(arguments, i)) {
      split.own.insert(split.own.end(), nvccs->own.begin(), nvccs->own.end());
      split.compiler.insert(split.compiler.end(), nvccs->compiler.begin(), nvccs->compiler.end());
      i += nvccs->arguments - 1;
      continue;
    }
    const CompilerOption* option = match(argument);
    if (!option) {
      split.own.push_back(argument);
      continue;
    }
    auto& into = option->linker ? split.linker : split.compiler;
    bool isWhole = argument != option->name || option->spelling == Spelling::Joined;
    if (isWhole) {
      // clang knows only -std=; nvcc takes --std= as well.
      into.push_back(option->name == "--std=" ? argument.substr(1) : argument);
      continue;
    }
    if (i + 1 == arguments.size()) return Error{"option " + argument + " wants a value after it"};
    into.push_back(argument);
    into.push_back(arguments[++i]);
  }
  return split;
}

} // namespace kcheck::driver
