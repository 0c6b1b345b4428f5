// Pages of docs/ that show programs and what kcheck prints about them. Two kinds of fenced blocks are made,
// not written:
//
//   ```cuda FILE.cu    the file beside the page, without the comments that only the tests read
//   ```console         `$ ./kcheck ...`, each followed by what it prints, without the times of the closing
//   line
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kcheck::expectations {

/// What a made block should hold now; the empty result of `contentOf` or `outputOf` means that it could not
/// be had.
struct PageSources {
  std::function<std::string(const std::string& file)> contentOf;
  std::function<std::string(const std::string& command)> outputOf;
};

/// The page with every made block as it should be; text and blocks of other kinds are left alone. `mistakes`
/// gets a sentence for each block that makes no sense.
std::string refreshed(const std::string& page, const PageSources& sources,
                      std::vector<std::string>& mistakes);

/// Whether the page has a block that is made.
bool hasMadeBlocks(const std::string& page);

/// A program as pages show it: without `// expect...` comments.
std::string withoutExpectations(const std::string& program);

/// A report as pages show it: the closing line without its times.
std::string withoutTimes(const std::string& output);

} // namespace kcheck::expectations
