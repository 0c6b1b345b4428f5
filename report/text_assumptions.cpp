// What the proofs of a report rest on.
#include "report/text_parts.h"

#include <set>

namespace kcheck::text {
namespace {

/// Sentences that differ in a line or in the size that they are about alone, as one.
class Sentences {
public:
  void add(const std::string& sentence) {
    constexpr std::string_view kRange = "` is from ";
    if (const std::size_t said = sentence.find(kRange);
        sentence.starts_with('`') && said != std::string::npos) {
      at("", sentence.substr(said + kRange.size())).subjects.insert(sentence.substr(0, said + 1));
      return;
    }
    constexpr std::string_view kLine = "line ";
    const std::size_t start = sentence.find(kLine), number = start + kLine.size();
    const std::size_t end = sentence.find_first_not_of("0123456789", number);
    if (start == std::string::npos || end == number) {
      at(sentence, "");
      return;
    }
    const std::size_t stop = std::min(end, sentence.size());
    at(sentence.substr(0, start), sentence.substr(stop))
        .lines.insert(std::stoul(sentence.substr(number, stop - number)));
  }
  std::vector<std::string> all() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries) {
      std::string& sentence = result.emplace_back(entry.before);
      if (!entry.subjects.empty())
        sentence = listed({entry.subjects.begin(), entry.subjects.end()}) +
                   (entry.subjects.size() == 1 ? " is from " : " are from ");
      std::vector<std::string> lines;
      for (const unsigned long line : entry.lines) lines.push_back(std::to_string(line));
      if (!lines.empty()) sentence += (lines.size() == 1 ? "line " : "lines ") + listed(lines);
      sentence += entry.after;
    }
    return result;
  }

private:
  struct Entry {
    std::string before, after;
    std::set<unsigned long> lines;
    std::set<std::string> subjects;
  };

  Entry& at(const std::string& before, const std::string& after) {
    for (Entry& entry : entries)
      if (entry.before == before && entry.after == after) return entry;
    return entries.emplace_back(before, after, std::set<unsigned long>(), std::set<std::string>());
  }

  std::vector<Entry> entries; ///< in the order of their first lines
};

} // namespace

std::vector<std::string> assumptionsOf(const Report& report) {
  Sentences sentences;
  for (const KernelResult& kernel : report.kernels)
    for (const PropertyResult& property : kernel.properties) {
      if (property.answer != Answer::Proved) continue;
      for (const std::string& assumption : property.assumptions) sentences.add(assumption);
    }
  return sentences.all();
}

} // namespace kcheck::text
