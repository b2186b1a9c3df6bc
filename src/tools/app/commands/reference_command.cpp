#include "app/commands/reference_command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "app/commands/bound_command.h"
#include "app/commands/sweep_command.h"
#include "app/embedded.h"
#include "app/file_options.h"
#include "base/error.h"
#include "base/files/console.h"
#include "compare/comparison.h"
#include "config/descriptor_keys.h"
#include "config/layer/transfer_reader.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "config/network_keys.h"
#include "config/sweep/sweep.h"
#include "dram/read/keys.h"
#include "dram/report/report.h"
#include "dram/report/run_report.h"
#include "explain/slack.h"
#include "facts/causes.h"
#include "platform/declared.h"
#include "replay/events.h"
#include "report/loadable_result.h"
#include "report/network/network_result.h"
#include "report/network/network_steps.h"
#include "report/replay_result.h"
#include "report/result.h"
#include "report/run_report.h"
#include "silicon/silicon_keys.h"
#include "suite/suite.h"
#include "sweep/machines.h"

namespace dlasim {
namespace {

/// A counter or a key, as a row of a table.
struct Row {
    std::string name, type, range, unit, meaning, source, when;
    bool again = false;       // another row says the same
    std::string otherwise{};  // the default
    std::string choices{};    // the values allowed; empty: any
};

Row row_of(const KeyRow& key, std::string name, std::string range = "")
{
    return {std::move(name),
            std::string(key.type),
            std::move(range),
            std::string(key.unit),
            std::string(key.meaning),
            "",
            std::string(key.when),
            false,
            "",
            choices_text(key.choices)};
}

/// Rows that belong together.
struct Section {
    std::vector<std::string> ids;  // "units/csc/counters", "result": several where units are alike
    std::string title, intro;
    std::vector<Row> rows;
};

struct Chapter {
    std::string title, intro;
    std::vector<Section> sections;
};

std::string range_of(std::int64_t low, std::int64_t high)
{
    if (low == high) return "";
    return high == INT64_MAX ? fmt::format("from {} on", low) : fmt::format("{}..{}", low, high);
}

/// Rows of the members of a list or object follow its own row.
void add_with_those_below(std::vector<Row>& rows, const std::vector<PlacedKey>& keys, std::size_t at, std::vector<bool>& done)
{
    if (done[at]) return;
    done[at] = true;
    const PlacedKey& key = keys[at];
    rows.push_back(row_of(key.row, key.path, key.low == key.high ? "" : range_of(key.low, key.high)));
    rows.back().again = key.again;
    rows.back().otherwise = key.otherwise;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i].path.starts_with(key.path + "/")) add_with_those_below(rows, keys, i, done);
}

std::vector<Row> rows_of(const std::vector<PlacedKey>& keys)
{
    std::vector<Row> rows;
    std::vector<bool> done(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) add_with_those_below(rows, keys, i, done);
    return rows;
}

Chapter units_chapter()
{
    Chapter chapter{
        "Counters of the units",
        "They are in `result.json` under `units/UNIT/counters` and `units/UNIT/clock_on`, and cover the window from t0 to "
        "the last interrupt. Next to them are the unit's cycles by [phase](GLOSSARY.md), which add up to the cycles of the window.",
        {}};
    for (const DeclaredUnit& unit : declared_units()) {
        std::string names;
        for (const std::string_view name : unit.names) names.append(names.empty() ? "" : ", ").append(name);
        for (const bool clocks : {false, true}) {
            std::vector<std::string> ids;
            for (const std::string_view name : unit.names)
                ids.push_back(fmt::format("units/{}/{}", name, clocks ? "clock_on" : "counters"));
            Section section{ids,
                            clocks ? "" : names,
                            clocks ? "Clock domains of " + names + ": cycles with the clock on." : std::string(unit.what) + ".",
                            {}};
            for (const CounterRow& row : unit.rows)
                if ((row.kind == CounterKind::Clock) == clocks)
                    section.rows.push_back({std::string(row.name), "integer", "", std::string(row.unit), std::string(row.meaning),
                                            std::string(row.source), std::string(row.when)});
            if (!section.rows.empty()) chapter.sections.push_back(std::move(section));
        }
    }
    return chapter;
}

Section hardware_section()
{
    Section section{
        {"hardware"},
        "",
        "An object laid over a preset; a path is written `cbuf.banks` for `--set` and as an axis, and is an object in an object "
        "in JSON. `result.json` has all of them. Defaults are the preset's: `dlasim presets NAME`.",
        {}};
    for (const KeyRow& key : kHardwareKeys) section.rows.push_back(row_of(key, std::string(key.name)));
    for (const HardwareField& field : hardware_fields())
        section.rows.push_back({field.path, field.flag ? "flag" : "integer",
                                field.flag ? "" : fmt::format("{}..{}", field.range.low, field.range.high), field.unit, field.meaning, "",
                                ""});
    return section;
}

/// Keys of a device file, or of a constraint table.
Section dram_section(bool table, const char* id, const char* title, const char* intro)
{
    Section section{{id}, title, intro, {}};
    for (const dram::ConfigKey& key : dram::kConfigKeys) {
        std::string_view name = key.row.name;
        if (name.starts_with("table/") != table) continue;
        if (table) name.remove_prefix(6);
        const std::string range = key.most > key.least ? fmt::format("{}..{}", key.least, key.most) : range_of(key.low, key.high);
        section.rows.push_back(row_of(key.row, std::string(name), range));
    }
    return section;
}

Chapter files_chapter()
{
    Chapter chapter{"Files of the commands",
                    "No output may overwrite an input, under any name or link: it is rejected before anything runs. Keys of JSON that name "
                    "inputs have the type file.",
                    {{{"file_options"}, "Options and arguments", "", {}}, {{"folder_files"}, "In folders that are written", "", {}}}};
    for (const FileOption& row : file_options())
        chapter.sections[0].rows.push_back(
            {fmt::format("{} {}", row.command, row.option), std::string(use_name(row.use)), "", "", std::string(row.what), "", ""});
    for (const FolderFile& row : folder_files()) {
        const bool folder = row.name.ends_with('/');
        chapter.sections[1].rows.push_back({fmt::format("{} {}/{}", row.command, row.option, row.name),
                                            std::string(use_name(folder ? FileUse::OutputFolder : FileUse::Output)), "", "",
                                            std::string(row.what), "", ""});
    }
    return chapter;
}

/// A chapter of one section.
Chapter chapter(std::string title, std::string name, std::string intro, std::vector<Row> rows)
{
    return {std::move(title), "", {{{std::move(name)}, "", std::move(intro), std::move(rows)}}};
}

std::vector<Chapter> what_is_read()
{
    std::vector<Section> descriptors{{{"layer"}, "A layer", "", rows_of(layer_keys())}};
    for (const TransferKeys& transfer : transfer_keys())
        descriptors.push_back({{transfer.op}, transfer.title, "`\"op\": \"" + transfer.op + "\"`.", rows_of(transfer.placed)});
    return {{"Descriptors",
             "What `dlasim run` reads, and `base/layer` of a sweep; [DESCRIPTOR.md](DESCRIPTOR.md) explains how keys work together. "
             "An axis and `base` write a path with dots.",
             descriptors},
            chapter("Networks", "network_file",
                    "What `dlasim net` reads, and `base/network` of a sweep; [NETWORK.md](NETWORK.md) explains how keys work "
                    "together. Objects of a layer are those of a descriptor.",
                    rows_of(network_keys()))};
}

std::vector<Chapter> what_a_run_writes()
{
    std::vector<PlacedKey> every;
    place_report_keys(every);
    return {
        chapter("result.json", "result",
                "What every run writes with `--out DIR`: layers, networks, ONNX models, loadables, register programs, and the points of a "
                "sweep. Each kind adds the keys of its chapter. All cycles count from t0, the last op-enable of the first operation.",
                rows_of(every)),
        chapter("result.json of a layer", "layer_result", "Additional keys of a layer or a transfer.", rows_of(result_keys())),
        chapter("plan.json of a run", "plan",
                "What `dlasim run LAYER --plan --out DIR` writes. `plan` and `bounds` have the keys of result.json.",
                rows_of(outline_keys())),
        {"result.json of a network",
         "",
         {{{"network"},
           "",
           "Additional keys of a network or an ONNX model. `layers.csv` has a row per step.",
           rows_of(network_result_keys())},
          {{"network_steps"},
           "steps/steps.json",
           "What `dlasim net FILE.onnx --steps --out DIR` writes beside the layers of the steps: how they are joined.",
           rows_of(network_step_keys())}}},
        chapter("result.json of a loadable", "loadable", "Additional keys of a compiled file.", rows_of(loadable_result_keys())),
        chapter("result.json of a register program", "replay", "Additional keys of `dlasim replay`.", rows_of(replay_keys())),
        chapter("Events", "events",
                "What `dlasim replay PROGRAM --events FILE` and `dlasim run LAYER --events FILE` write. All cycles count from t0.",
                rows_of(event_keys())),
        chapter("Statistics of a DRAM", "dram",
                "`memory_report/dbb` of `result.json`, and `statistics` of `dlasim dram --json`: all channels together, then each.",
                rows_of(dram::statistics_keys()))};
}

std::vector<Chapter> what_other_commands_write()
{
    std::vector<PlacedKey> explained = explanation_keys();
    for (const PlacedKey& key : trial_keys()) explained.push_back(key);
    for (const PlacedKey& key : slack_keys()) explained.push_back(key);
    return {
        chapter("Bounds without a machine", "bound",
                "`dlasim bound LAYERS --chip KIB --json`: an object for each chip. How they are computed: `src/work/jobs/traffic_bound.h`.",
                rows_of(bound_command_keys())),
        chapter("Comparisons", "comparison", "`dlasim compare A B --json`: [REGRESSION.md](REGRESSION.md#compare-two-runs).",
                rows_of(comparison_keys())),
        chapter("Explanations", "explanation", "`dlasim explain RUN --json`: [CAUSES.md](CAUSES.md).", rows_of(explained)),
        chapter("Regression suites", "suite", "`DIR/suite.json` of `dlasim test DIR`: [REGRESSION.md](REGRESSION.md).",
                rows_of(suite_keys())),
        chapter("dlasim dram", "dram_run", "What `dlasim dram --json` prints and `--out FILE` writes.", rows_of(dram::run_keys())),
        {"Sweeps",
         "",
         {{{"sweep"}, "The file", "`dlasim sweep SWEEP.json`.", rows_of(sweep_keys())},
          {{"points"}, "The table", "A column of `points.csv`, and a key of every object of `points.json`.", rows_of(point_keys())},
          {{"machines"},
           "Machines",
           "A column of `machines.csv`, and a key of every object of `machines.json`.",
           rows_of(machine_row_keys())},
          {{"technology"},
           "Technologies",
           "A file like `configs/technology/16nm.json`, for `--technology` and `technology` of a sweep. Each number is an object with its "
           "source.",
           rows_of(silicon::technology_keys())}}},
        {"Area and energy",
         "",
         {{{"silicon"},
           "A machine",
           "`dlasim silicon --json`: [CHOOSE.md](howto/CHOOSE.md#area-energy-and-power).",
           rows_of(silicon::machine_keys())},
          {{"energy"}, "A run that has ended", "`dlasim silicon --of result.json --json`.", rows_of(silicon::silicon_keys())}}}};
}

Chapter memory_chapter()
{
    std::string shorts;
    for (const dram::ShortOption& option : dram::kShortOptions)
        shorts += fmt::format("{}`{}` for `{}`", shorts.empty() ? "" : ", ", option.name, option.path);
    return {
        "Memory",
        "`--memory NAME:OPTION=VALUE,..`, where NAME is a preset or a file; `base/memory` of a sweep, `memory` of `result.json`. A file "
        "is a DRAM "
        "like those below, or an object with `kind` and options: `{\"kind\": \"ideal\", \"latency\": 100}`.",
        {{{"memory"},
          "The ideal memory",
          "Options of `ideal`, for both ports; the rules: [interfaces.md](hardware/interfaces.md) 4.",
          rows_of(memory_keys())},
         dram_section(false, "device", "A DRAM",
                      ("A preset or a file like `configs/dram/ddr4-2400.json`. An option is the path of a key, with dots: "
                       "`ddr4-2400:timing.tRCD=18`; " +
                       shorts + ". [DRAM.md](DRAM.md) has its accuracy.")
                          .c_str()),
         dram_section(true, "table", "The constraint table of a DRAM",
                      "A file like `configs/dram/standards/ddr4.json`. An expression has numbers, times of the device, BL, RL, WL, + - * "
                      "/ and max().")}};
}

std::vector<Chapter> reference()
{
    std::vector<Chapter> chapters{units_chapter(), files_chapter()};
    for (std::vector<Chapter>& part : std::array{what_is_read(), what_a_run_writes(), what_other_commands_write()})
        for (Chapter& each : part) chapters.push_back(std::move(each));
    chapters.push_back({"Hardware", "", {hardware_section()}});
    chapters.push_back(memory_chapter());
    return chapters;
}

std::string cell(const std::string& text)
{
    std::string cell;
    for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
    return cell;
}

std::string meaning_of(const Row& row)
{
    return row.meaning + (row.choices.empty() ? "" : ": " + row.choices) + (row.when.empty() ? "" : " (" + row.when + ")");
}

std::string sentence(const Row& row) { return cell(meaning_of(row)); }

/// "csc.md 1.5" as a link to the page.
std::string link(const std::string& source)
{
    const std::size_t space = std::min(source.find(' '), source.size());
    return source.empty() ? ""
                          : fmt::format("[{}](hardware/{}){}", source.substr(0, space - 3), source.substr(0, space), source.substr(space));
}

/// Columns without entries are omitted.
std::string table_of(const Section& section)
{
    struct Column {
        const char* title;
        std::string (*text)(const Row&);
    };
    const bool counters = section.ids.front().starts_with("units/");
    const std::array columns{
        Column{counters ? "counter" : "key", [](const Row& r) { return "`" + r.name + "`"; }},
        Column{"type", [](const Row& r) { return r.type; }},
        Column{"range", [](const Row& r) { return r.range; }},
        Column{"unit", [](const Row& r) { return r.unit; }},
        Column{"default", [](const Row& r) { return r.otherwise; }},
        Column{counters ? "what is counted" : "what it is", sentence},
        Column{"see", [](const Row& r) { return link(r.source); }},
    };
    std::string head, line, text;
    std::vector<const Column*> used;
    for (const Column& column : columns) {
        if (counters && column.title == std::string_view("type")) continue;
        if (section.ids.front().ends_with("/clock_on") && column.title == std::string_view("unit")) continue;
        if (std::any_of(section.rows.begin(), section.rows.end(), [&](const Row& r) { return !column.text(r).empty(); }))
            used.push_back(&column);
    }
    for (const Column* column : used) {
        head += fmt::format("| {} ", section.ids.front().ends_with("/clock_on") && column == used.front() ? "clock domain" : column->title);
        line += "|---";
    }
    text = head + "|\n" + line + "|\n";
    for (const Row& row : section.rows) {
        if (row.again) continue;
        for (const Column* column : used) text += fmt::format("| {} ", column->text(row));
        text += "|\n";
    }
    return text;
}

void say_page(const std::vector<Chapter>& chapters)
{
    std::string page =
        "# Reference\n\nEvery counter and every key of what dlasim reads and writes, printed by `dlasim reference` from the declarations "
        "that the "
        "sources\nuse; a test compares. `dlasim reference NAME` prints the rows of one name. In a path, `[]` is each of the elements of a "
        "list, `*` "
        "for names\nthat depend on the run, `#` for a number.\n";
    for (const Chapter& chapter : chapters) {
        page += fmt::format("\n## {}\n", chapter.title);
        if (!chapter.intro.empty()) page += "\n" + chapter.intro + "\n";
        for (const Section& section : chapter.sections) {
            if (!section.title.empty()) page += fmt::format("\n### {}\n", section.title);
            page += (section.intro.empty() ? "" : "\n" + section.intro + "\n") + "\n" + table_of(section);
        }
    }
    say("{}", page);
}

OrderedJson json_of(const Section& section)
{
    OrderedJson rows = OrderedJson::array();
    for (const Row& row : section.rows) {
        OrderedJson json{{"name", row.name}, {"type", row.type}, {"unit", row.unit}, {"meaning", row.meaning}};
        if (!row.range.empty()) json["range"] = row.range;
        if (!row.choices.empty()) json["values"] = row.choices;
        if (!row.otherwise.empty()) json["default"] = row.otherwise;
        if (!row.source.empty()) json["source"] = row.source;
        if (!row.when.empty()) json["when"] = row.when;
        rows.push_back(std::move(json));
    }
    return rows;
}

std::string small(std::string text)
{
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "[accumulator](hardware/cacc.md): adds .." without the address.
std::string without_links(const std::string& text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t end = text[i] == '[' ? text.find("](", i) : std::string::npos;
        const std::size_t close = end == std::string::npos ? end : text.find(')', end);
        if (close == std::string::npos) {
            plain += text[i];
        } else {
            plain += text.substr(i + 1, end - i - 1);
            i = close;
        }
    }
    return plain;
}

/// docs/GLOSSARY.md, a row a term.
Chapter glossary_chapter()
{
    std::vector<Row> rows;
    std::istringstream page(embedded(glossary_files(), "GLOSSARY.md"));
    for (std::string line; std::getline(page, line);) {
        const std::size_t middle = line.find(" | ", 2), end = line.rfind(" |");
        if (!line.starts_with("| ") || line.starts_with("| term") || middle == std::string::npos || end <= middle) continue;
        std::istringstream terms(line.substr(2, middle - 2));
        for (std::string term; std::getline(terms, term, ',');)
            rows.push_back({term.substr(term.find_first_not_of(' ')), "term", "", "",
                            without_links(line.substr(middle + 3, end - middle - 3)), "", ""});
    }
    return chapter("Glossary", "glossary", "", std::move(rows));
}

Chapter causes_chapter()
{
    std::vector<Row> rows;
    for (std::size_t i = 0; i < kCauses; ++i) {
        const CauseName& cause = name_of(static_cast<Cause>(i));
        rows.push_back({fmt::format("{}/{}", cause.group, cause.name), "integer", "", "cycles", std::string(cause.text), "", ""});
    }
    return chapter("Causes", "causes",
                   "Keys of `causes`; those of a memory and `end/write_back` have a key per client. [CAUSES.md](CAUSES.md) explains them.",
                   std::move(rows));
}

/// Leaves the rows of that name, or of a path that ends with it, and those of a unit; returns all names if there is none.
std::vector<std::string> select(std::vector<Chapter>& chapters, const std::string& name)
{
    std::vector<std::string> names;
    bool any = false;
    const std::string wanted = small(name);
    const auto last = [](const std::string& path) { return path.substr(path.find_last_of("/.") + 1); };
    for (Chapter& chapter : chapters) {
        chapter.intro.clear();
        for (Section& section : chapter.sections) {
            const bool words = section.ids.front() == "glossary" || section.ids.front() == "causes";
            const bool unit =
                std::ranges::any_of(section.ids, [&](const std::string& id) { return id.starts_with("units/" + wanted + "/"); });
            for (const Row& row : section.rows) {
                names.push_back(last(row.name));
                if (words && row.name.find('/') != std::string::npos) names.push_back(row.name.substr(0, row.name.find('/')));
            }
            std::erase_if(section.rows, [&](const Row& row) {
                const std::string own = words ? small(row.name) : row.name, &as = words ? wanted : name;
                return !unit && own != as && last(own) != as && !(words && own.starts_with(as + "/"));
            });
            any |= !section.rows.empty();
        }
        std::erase_if(chapter.sections, [](const Section& section) { return section.rows.empty(); });
    }
    std::erase_if(chapters, [](const Chapter& chapter) { return chapter.sections.empty(); });
    return any ? std::vector<std::string>{} : names;
}

}  // namespace

int reference_command(const std::string& name, bool json)
{
    std::vector<Chapter> chapters = reference();
    if (!name.empty()) {
        chapters.insert(chapters.begin(), {glossary_chapter(), causes_chapter()});
        if (const std::vector<std::string> known = select(chapters, name); !known.empty()) {
            const std::string near = meant(name, known);
            throw ConfigError("reference", "no counter, key, unit, cause or term is called \"" + name + "\"" +
                                               (near.empty() ? "; without a name all are printed" : " (did you mean \"" + near + "\"?)"));
        }
    }
    if (json) {
        OrderedJson sections = OrderedJson::object();
        for (const Chapter& chapter : chapters)
            for (const Section& section : chapter.sections)
                for (const std::string& id : section.ids) sections[id] = json_of(section);
        say("{}\n", sections.dump(1));
    } else if (name.empty()) {
        chapters.push_back(causes_chapter());
        say_page(chapters);
    } else {
        for (const Chapter& chapter : chapters)
            for (const Section& section : chapter.sections)
                for (const Row& row : section.rows)
                    if (!row.again)
                        say("{}/{}  {}{}{}\n", section.ids.front(), row.name, row.unit, row.unit.empty() ? "" : ": ",
                            meaning_of(row) + (row.source.empty() ? "" : "; " + row.source));
    }
    return 0;
}

}  // namespace dlasim
