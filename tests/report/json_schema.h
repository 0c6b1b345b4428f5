// A validator for the part of JSON Schema that docs/report.schema.json uses; an unknown keyword is an error,
// so that the schema cannot ask for something that nobody checks.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace kcheck::test {

class SchemaValidator {
public:
  using Json = nlohmann::ordered_json;
  explicit SchemaValidator(Json schema) : root(std::move(schema)) {}

  std::vector<std::string> problems(const Json& value) {
    found.clear();
    check(root, value, "");
    return found;
  }

private:
  static bool isOf(const Json& value, const std::string& type) {
    if (type == "null") return value.is_null();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
  }

  void problem(const std::string& path, const std::string& what) { found.push_back(path + ": " + what); }

  void checkObject(const Json& schema, const Json& value, const std::string& path) {
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>())) problem(path, "lacks " + key.get<std::string>());
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, member] : value.items()) {
      if (properties.contains(key))
        check(properties.at(key), member, path + "/" + key);
      else if (!schema.value("additionalProperties", true))
        problem(path, "has an unknown key " + key);
    }
  }

  void checkArray(const Json& schema, const Json& value, const std::string& path) {
    if (value.size() < schema.value("minItems", std::size_t(0))) problem(path, "has too few items");
    if (value.size() > schema.value("maxItems", std::size_t(-1))) problem(path, "has too many items");
    if (!schema.contains("items")) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(schema.at("items"), value[i], path + "/" + std::to_string(i));
  }

  void checkType(const Json& schema, const Json& value, const std::string& path) {
    if (!schema.contains("type")) return;
    const Json& type = schema.at("type");
    bool fits = false;
    for (const Json& one : type.is_array() ? type : Json::array({type})) fits = fits || isOf(value, one);
    if (!fits) problem(path, "is " + value.dump() + ", not of type " + type.dump());
  }

  void checkAnyOf(const Json& schema, const Json& value, const std::string& path) {
    std::vector<std::string> kept = found;
    for (const Json& one : schema.at("anyOf")) {
      found.clear();
      check(one, value, path);
      if (found.empty()) {
        found = kept;
        return;
      }
    }
    found = kept;
    problem(path, "fits none of anyOf");
  }

  void check(const Json& schema, const Json& value, const std::string& path) {
    static const std::set<std::string> known{"$schema",
                                             "$defs",
                                             "$ref",
                                             "title",
                                             "description",
                                             "type",
                                             "enum",
                                             "const",
                                             "required",
                                             "properties",
                                             "additionalProperties",
                                             "items",
                                             "minItems",
                                             "maxItems",
                                             "minimum",
                                             "maximum",
                                             "anyOf"};
    for (const auto& [keyword, _] : schema.items())
      if (!known.contains(keyword)) problem(path, "schema keyword " + keyword + " is not checked");
    if (schema.contains("$ref"))
      return check(root.at(Json::json_pointer(schema.at("$ref").get<std::string>().substr(1))), value, path);
    if (schema.contains("anyOf")) checkAnyOf(schema, value, path);
    checkType(schema, value, path);
    if (schema.contains("const") && value != schema.at("const"))
      problem(path, "is not " + schema.at("const").dump());
    if (schema.contains("enum")) {
      bool listed = false;
      for (const Json& one : schema.at("enum")) listed = listed || one == value;
      if (!listed) problem(path, value.dump() + " is not listed");
    }
    if (value.is_number() && schema.contains("minimum") && value < schema.at("minimum"))
      problem(path, "is too small");
    if (value.is_number() && schema.contains("maximum") && value > schema.at("maximum"))
      problem(path, "is too large");
    if (value.is_object()) checkObject(schema, value, path);
    if (value.is_array()) checkArray(schema, value, path);
  }

  Json root;
  std::vector<std::string> found;
};

} // namespace kcheck::test
