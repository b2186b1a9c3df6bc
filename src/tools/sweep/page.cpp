#include "sweep/page.h"

#include <algorithm>

#include "base/files/html_page.h"
#include "sweep/embedded.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The row that declares a column: of its name, of a pattern, "dbb_read_bytes.*", or of a figure of a workload, "resnet50.cycles".
const KeyRow* declared(const PageFacts& facts, const std::string& column)
{
    const KeyRow* found = nullptr;
    const std::size_t dot = column.find('.');
    if (facts.machines.asked() && dot != std::string::npos) return declared(facts, column.substr(dot + 1));
    for (const PlacedKey& key : facts.keys) {
        if (key.path == column) return &key.row;
        const std::size_t star = key.path.find('*');
        if (star == std::string::npos || key.path.size() == 1) continue;
        if (column.starts_with(key.path.substr(0, star)) && column.ends_with(key.path.substr(star + 1))) found = &key.row;
    }
    return found;
}

OrderedJson columns_json(const std::vector<std::string>& columns, const PageFacts& facts)
{
    OrderedJson list = OrderedJson::array();
    for (const std::string& column : columns) {
        const bool axis = std::find(facts.axes.begin(), facts.axes.end(), column) != facts.axes.end();
        const KeyRow* row = axis ? nullptr : declared(facts, column);
        list.push_back({{"name", column}, {"unit", row ? row->unit : ""}, {"meaning", row ? row->meaning : "an axis of the sweep"}});
    }
    return list;
}

/// What the page needs of the machines of its rows; null where these are points.
OrderedJson machines_json(const MachineQuestion& question)
{
    if (!question.asked()) return {};
    OrderedJson workloads = OrderedJson::array();
    OrderedJson rates = OrderedJson::array();
    for (const AskedWorkload& workload : question.workloads)
        if (!workload.name.empty()) {
            workloads.push_back(workload.name);
            rates.push_back(workload.rate);
        }
    return {{"workloads", workloads}, {"rates", rates}, {"command", question.command}};
}

OrderedJson measured_json()
{
    OrderedJson words;
    for (const bool measured : {true, false})
        words[measured ? "true" : "false"] = {{"badge", measured_words(measured).badge}, {"sentence", measured_words(measured).sentence}};
    return words;
}

}  // namespace

SweepPage::SweepPage(const std::vector<std::string>& columns, const PageFacts& facts, OutputFile& file, State state)
    : columns_(columns), file_(file)
{
    file.write(page_begin("dlasim sweep"));
    file.write(embedded(sweep_page_files(), "page.html"));
    file.write(page_charts());
    file.write("<script>\nconst sweep = {\"name\": " + script_json(facts.name) + ", \"axes\": " + script_json(facts.axes) +
               ", \"columns\": " + script_json(columns_json(columns, facts)) + ", \"points\": " + std::to_string(facts.points) +
               ", \"errors\": " +
               script_json({{"area_mm2", facts.machines.area_error},
                            {"power_mw", facts.machines.power_error},
                            {"energy_uj", facts.machines.power_error}}) +
               ", \"measured\": " + script_json(measured_json()) + ", \"machines\": " + script_json(machines_json(facts.machines)) +
               ", \"answer\": " + script_json(facts.answer) + ", \"complete\": " + (state == State::Complete ? "true" : "false") +
               ", \"running\": " + (state == State::Running ? "true" : "false") +
               ", \"technology\": " + script_json({{"name", facts.technology_name}, {"numbers", facts.technology}}) + ", \"rows\": [");
}

void SweepPage::row(const KeptPoint& kept)
{
    OrderedJson row = OrderedJson::array();
    for (const std::string& column : columns_) row.push_back(kept.row.contains(column) ? kept.row[column] : OrderedJson());
    file_.write((first_ ? "\n" : ",\n") + script_json(row));
    first_ = false;
}

void SweepPage::end()
{
    file_.write("\n]};\n</script>\n<script>\n");
    file_.write(embedded(sweep_page_files(), "page.js"));
    file_.write("</script>\n" + page_end());
}

}  // namespace dlasim
