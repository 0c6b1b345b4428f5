// The text of an asm statement of the IR, cut into PTX statements.
#pragma once

#include <string>
#include <vector>

namespace kcheck::ptx {

/// Statements and labels (`again:`), without comments, scopes and line numbers.
std::vector<std::string> cut(const std::string& text);

std::string trimmed(const std::string& text);
bool isNameCharacter(char c);

} // namespace kcheck::ptx
