// The JSON of docs/report.schema.json. Each record of the report has one function here.
#include "report/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace kcheck {

namespace {

using Json = nlohmann::ordered_json;

template <typename T> Json orNull(const std::optional<T>& value) { return value ? Json(*value) : Json(); }
Json orNull(const std::optional<Dim3>& dim) { return dim ? Json{dim->x, dim->y, dim->z} : Json(); }
Json orNull(const char* word) { return *word ? Json(word) : Json(); }
Json orNull(const std::string& word) { return word.empty() ? Json() : Json(word); }

/// Two decimals: the figures are exact ratios, and 33.333333333333336 helps nobody.
double rounded(double value) { return std::round(value * 100) / 100; }

Json placeJson(const Location& where) {
  return {{"file", where.file}, {"line", where.line}, {"column", where.column}};
}

void addPlace(Json& json, const Location& where) {
  json["file"] = where.file;
  json["line"] = where.line;
  json["column"] = where.column;
}

Json launchJson(const Launch& launch) {
  return {{"grid", orNull(launch.grid.whole())},
          {"block", orNull(launch.block.whole())},
          {"from", toString(launch.origin)},
          {"line", launch.where.line}};
}

Json propertyJson(const PropertyResult& property) {
  return {{"property", toString(property.property)},
          {"verdict", toString(property.answer)},
          {"reason", property.reason},
          {"holds_for", property.holdsFor},
          {"assumptions", property.assumptions}};
}

Json kernelJson(const KernelResult& kernel) {
  Json launches = Json::array(), properties = Json::array();
  for (const Launch& launch : kernel.launches) launches.push_back(launchJson(launch));
  for (const PropertyResult& property : kernel.properties) properties.push_back(propertyJson(property));
  return {{"name", kernel.name},
          {"file", kernel.where.file},
          {"line", kernel.where.line},
          {"launches", launches},
          {"properties", properties}};
}

Json accessJson(const Access& access) {
  Json json{{"kind", toString(access.kind)}};
  addPlace(json, access.where);
  json["block"] = orNull(access.block);
  json["thread"] = orNull(access.thread);
  json["expr"] = access.expr;
  json["value"] = orNull(access.value);
  return json;
}

Json memoryJson(const std::optional<MemoryFact>& memory) {
  if (!memory) return nullptr;
  return {{"space", toString(memory->space)},
          {"name", memory->name},
          {"size", orNull(memory->size)},
          {"offset", orNull(memory->offset)},
          {"bytes", memory->bytes},
          {"allocated_at", memory->allocatedAt.known() ? placeJson(memory->allocatedAt) : Json()}};
}

Json noteJson(const RelatedNote& note) {
  Json json;
  addPlace(json, note.where);
  json["message"] = note.message;
  return json;
}

Json findingJson(const Finding& finding) {
  Json json{{"rule", finding.rule},
            {"severity", toString(finding.severity)},
            {"verdict", toString(finding.verdict)},
            {"kernel", finding.kernel},
            {"message", finding.message}};
  addPlace(json, finding.where);
  json["scope"] = orNull(toString(finding.scope));
  json["kind"] = orNull(toString(finding.kind));
  json["same_value"] = finding.sameValue;
  json["accesses"] = Json::array();
  for (const Access& access : finding.accesses) json["accesses"].push_back(accessJson(access));
  json["memory"] = memoryJson(finding.memory);
  json["count"] = finding.count;
  json["hint"] = finding.hint;
  json["suppressed"] = finding.suppressed;
  json["holds_for"] = orNull(finding.holdsFor);
  json["reason"] = orNull(finding.reason);
  json["also_in"] = finding.alsoIn;
  json["notes"] = Json::array();
  for (const RelatedNote& note : finding.notes) json["notes"].push_back(noteJson(note));
  return json;
}

const char* metricAccess(AccessKind kind) {
  switch (kind) {
  case AccessKind::Read: return "load";
  case AccessKind::Write: return "store";
  case AccessKind::Atomic: return "atomic";
  }
  return "?";
}

Json metricJson(const Metric& metric) {
  Json json{{"kernel", metric.kernel}};
  addPlace(json, metric.where);
  json["access"] = metricAccess(metric.access);
  json["space"] = toString(metric.space);
  json["requests"] = metric.requests;
  json["sectors"] = metric.sectors;
  json["ideal_sectors"] = metric.idealSectors;
  json["sectors_per_request"] = rounded(metric.sectorsPerRequest());
  json["efficiency"] = rounded(metric.efficiency());
  json["bank_ways"] = metric.bankWays;
  json["from"] = metric.source == Source::Static ? "static" : "run";
  json["exact"] = metric.isExact;
  return json;
}

Json runJson(const RunResult& run) {
  auto ifRan = [&](const auto& value) { return run.ran ? Json(value) : Json(); };
  return {{"exit_status", run.ran && !run.signal && !run.timedOut ? Json(run.exitStatus) : Json()},
          {"signal", run.ran && run.signal ? Json(run.signal) : Json()},
          {"stdout_bytes", ifRan(run.stdoutBytes)},
          {"kernels_launched", ifRan(run.kernelsLaunched)},
          {"seconds", ifRan(run.seconds)},
          {"ran", run.ran},
          {"timed_out", run.timedOut},
          {"not_run_because", orNull(run.notRunBecause)},
          {"cut_short", run.cutShort}};
}

Json summaryJson(const Summary& summary) {
  return {{"errors", summary.errors},   {"warnings", summary.warnings},    {"notes", summary.notes},
          {"kernels", summary.kernels}, {"proved", summary.proved},        {"refuted", summary.refuted},
          {"unknown", summary.unknown}, {"suppressed", summary.suppressed}};
}

template <typename T, typename ToJson> Json arrayOf(const std::vector<T>& values, ToJson toJson) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(toJson(value));
  return array;
}

} // namespace

void writeJson(const Report& report, std::ostream& out) {
  Json json{{"tool", {{"name", "kcheck"}, {"version", report.version}}}, {"files", report.facts.files}};
  json["kernels"] = arrayOf(report.kernels, kernelJson);
  json["findings"] = arrayOf(report.findings, findingJson);
  json["metrics"] = arrayOf(report.metrics, metricJson);
  json["run"] = runJson(report.run);
  json["internal"] = report.disagreements;
  json["summary"] = summaryJson(summarize(report));
  // Source text may be in any encoding; JSON is UTF-8.
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

} // namespace kcheck
