#include "compare/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "base/files/json_text.h"
#include "config/file_kind.h"

namespace dlasim {
namespace {

constexpr std::int64_t kMaxAmount = std::int64_t{1} << 53;  // sums stay far from the end of their type

std::int64_t amount_of(const Json& value, const std::string& where)
{
    const bool whole = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
    if (!whole || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > kMaxAmount)
        throw ConfigError(where, found(value) + ", expected a whole number in 0..2^53");
    return value.get<std::int64_t>();
}

/// Relative to t0: what software enables before it begins before it.
std::int64_t time_of(const Json& value, const std::string& where)
{
    if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= -kMaxAmount &&
        value.get<std::int64_t>() < 0)
        return value.get<std::int64_t>();
    return amount_of(value, where);
}

std::string text_at(const Json& json, const std::string& path, const std::string& otherwise = "")
{
    const Json& value = value_at(json, path);
    return value.is_string() ? value.get<std::string>() : otherwise;
}

/// Every scalar below a value, by path; a list of scalars is one value, elements with a name go by it.
void flatten(const Json& value, const std::string& path, Facts& facts)
{
    const auto inner = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (value.is_object()) {
        for (const auto& [key, each] : value.items()) flatten(each, inner(key), facts);
    } else if (value.is_array() && std::any_of(value.begin(), value.end(), [](const Json& each) { return each.is_structured(); })) {
        for (std::size_t i = 0; i < value.size(); ++i) flatten(value[i], inner(text_at(value[i], "name", std::to_string(i))), facts);
    } else facts[path] = value;
}

/// Leaves of a tree of cycles, in its order.
void add_leaves(const Json& tree, const std::string& name, const std::string& where, Amounts& leaves, std::int64_t& sum)
{
    if (!tree.is_object()) {
        leaves.push_back({name, amount_of(tree, where)});
        sum += leaves.back().value;
        if (sum > kMaxAmount) throw ConfigError(where, "adds up to more than 2^53 cycles, expected fewer");
        return;
    }
    for (const auto& [key, each] : tree.items()) add_leaves(each, name.empty() ? key : name + ": " + key, where + "/" + key, leaves, sum);
}

Amounts leaves_of(const Json& result, const char* key, const std::string& where)
{
    Amounts leaves;
    std::int64_t sum = 0;
    if (const Json& tree = value_at(result, key); tree.is_object()) add_leaves(tree, "", where + "/" + key, leaves, sum);
    else if (!tree.is_null()) throw ConfigError(where + "/" + key, found(tree) + ", expected an object");
    return leaves;
}

class ResultReader {
public:
    ResultReader(const Json& result, const std::string& file) : json_(result), file_(file) {}

    RecordedRun run()
    {
        run_.file = file_;
        run_.cycles = amount_of(value_at(json_, "cycles"), at(file_, "/cycles"));
        run_.name = text_at(json_, "name");
        if (const Json& verified = value_at(json_, "verified"); verified.is_boolean()) run_.verified = verified.get<bool>();
        record_work();
        record_machine();
        run_.causes = leaves_of(json_, "causes", at(file_, ""));
        const Json& phases = value_at(json_, "units/cmac_a");
        for (const char* phase : {"issuing", "starved", "blocked", "draining", "gated"})
            if (phases.is_object() && phases.contains(phase))
                run_.phases.push_back(
                    {std::string("array ") + phase, amount_of(phases[phase], at(file_, std::string("/units/cmac_a/") + phase))});
        record_steps();
        record_traffic();
        return std::move(run_);
    }

private:
    /// A descriptor, or a layer of a network: what software chooses is its plan, all else the work.
    void record_layer(const Json& layer, const std::string& prefix)
    {
        static const std::set<std::string> kChosen{"partition", "plan", "overlap", "mode", "image", "placement", "winograd"};
        static const std::set<std::string> kWords{"name", "data", "source", "note"};
        Facts facts;
        for (const auto& [key, value] : layer.items()) {
            if (kWords.count(key) != 0) continue;
            if (kChosen.count(key) != 0) flatten(value, prefix + key, run_.plan);
            else flatten(value, prefix + key, run_.work);
        }
        if (auto compressed = run_.work.extract(prefix + "weights.compressed")) run_.plan.insert(std::move(compressed));
    }

    void record_work()
    {
        if (const Json& layer = value_at(json_, "layer"); layer.is_object()) {
            record_layer(layer, "");
            Facts plan;
            flatten(value_at(json_, "plan"), "", plan);
            for (const auto& [path, value] : plan) {
                static const std::set<std::string> kSaidElsewhere{"reason", "tensors", "traffic", "partition", "launches", "array_macs"};
                if (kSaidElsewhere.count(path.substr(0, path.find('.'))) == 0) run_.plan["lowered." + path] = value;
            }
        } else if (const Json& network = value_at(json_, "network"); network.is_object()) {
            record_network(network);
        } else {
            run_.work[text_at(json_, "kind")] = run_.name;
            if (value_at(json_, "mode").is_string()) run_.plan["mode"] = json_["mode"];
        }
    }

    void record_network(const Json& network)
    {
        for (const auto& [key, value] : network.items()) {
            static const std::set<std::string> kWords{"name", "source", "note", "macs", "layers"};
            if (kWords.count(key) == 0) flatten(value, key, key == "plan" || key == "overlap" ? run_.plan : run_.work);
        }
        if (const Json& images = value_at(json_, "images/count"); !images.is_null()) run_.work["images"] = images;
        const Json& layers = value_at(network, "layers");
        for (std::size_t i = 0; layers.is_array() && i < layers.size(); ++i)
            if (layers[i].is_object()) record_layer(layers[i], text_at(layers[i], "name", std::to_string(i)) + ".");
    }

    void record_machine()
    {
        const Json &hardware = value_at(json_, "hardware"), &memory = value_at(json_, "memory");
        run_.machine = hardware.is_string() ? hardware.get<std::string>() : text_at(json_, "machine", text_at(hardware, "preset"));
        if (const Json& measured = value_at(json_, "measured"); measured.is_boolean()) run_.measured = measured.get<bool>();
        record_nearest();
        run_.memory_name = text_at(memory, "kind");
        if (hardware.is_string()) run_.hardware["preset"] = hardware;
        else flatten(hardware, "", run_.hardware);
        if (!memory.is_null()) flatten(memory, "", run_.memory);
        const Json& clock = value_at(hardware, "clock_mhz");
        if (!clock.is_null())
            if (const std::int64_t mhz = amount_of(clock, at(file_, "/hardware/clock_mhz")); mhz != 0)
                run_.seconds = static_cast<double>(run_.cycles) / (static_cast<double>(mhz) * 1e6);
    }

    void record_nearest()
    {
        const Json& list = value_at(json_, "nearest");
        if (!list.is_array() || list.empty()) return;
        const Json& first = list.front();
        run_.nearest = {text_at(first, "program"),
                        text_at(first, "machine"),
                        text_at(first, "modes"),
                        0,
                        amount_of(value_at(first, "events"), at(file_, "/nearest/0/events")),
                        amount_of(value_at(first, "differing"), at(file_, "/nearest/0/differing"))};
        if (const Json& ratio = value_at(first, "size_ratio"); ratio.is_number()) run_.nearest.size_ratio = ratio.get<double>();
    }

    void add_step(const Json& step, std::string name, std::int64_t cycles, const std::string& where)
    {
        const std::string base = name;
        for (std::size_t& again = names_[base]; !used_.insert(name).second;) name = fmt::format("{} #{}", base, ++again + 1);
        step_cycles_ += cycles;
        if (step_cycles_ > kMaxAmount) throw ConfigError(where, "adds up to more than 2^53 cycles, expected fewer");
        run_.steps.push_back({std::move(name), cycles, leaves_of(step, "causes", where)});
    }

    void record_steps()
    {
        const Json &steps = value_at(json_, "steps"), &operations = value_at(json_, "operations");
        for (std::size_t i = 0; steps.is_array() && i < steps.size(); ++i) {
            const std::string where = at(file_, fmt::format("/steps/{}", i));
            const Json& share = value_at(steps[i], "share");
            if (share.is_null()) continue;  // of the host
            const std::string name = text_at(steps[i], "name", std::to_string(i));
            for (const char* key : {"unit", "mode", "operations", "memory"})
                if (const Json& value = value_at(steps[i], key); !value.is_null()) run_.plan[name + "." + key] = value;
            add_step(steps[i], name, amount_of(share, where + "/share"), where);
        }
        for (std::size_t i = 0; operations.is_array() && i < operations.size(); ++i) {
            const Json& operation = operations[i];
            const std::string where = at(file_, fmt::format("/operations/{}", i));
            const std::int64_t start = time_of(value_at(operation, "start"), where + "/start");
            const std::string name = fmt::format("{} {}.{}", text_at(operation, "kind"), json_excerpt(value_at(operation, "task")),
                                                 json_excerpt(value_at(operation, "operation")));
            for (const char* key : {"input", "output", "macs"})
                if (const Json& value = value_at(operation, key); !value.is_null()) run_.work[name + "." + key] = value;
            add_step(operation, name, std::max(start, time_of(value_at(operation, "done"), where + "/done")) - start, where);
        }
    }

    void record_traffic()
    {
        static constexpr std::array<std::string_view, 4> kTotals{"read_bytes", "write_bytes", "rbeats", "wbytes"};
        Facts facts;
        for (const char* port : {"dbb", "cvsram"})
            if (const Json& traffic = value_at(json_, std::string("traffic/") + port); !traffic.is_null()) flatten(traffic, port, facts);
        for (const auto& [path, value] : facts) {
            const std::string_view last = std::string_view(path).substr(path.rfind('.') + 1);
            const bool total = std::find(kTotals.begin(), kTotals.end(), last) != kTotals.end();
            if (total || path.find("_bytes_by_client.") != std::string::npos)
                run_.traffic.push_back({path, amount_of(value, at(file_, "/traffic: " + path))});
        }
    }

    const Json& json_;
    const std::string& file_;
    RecordedRun run_;
    std::map<std::string, std::size_t> names_;  // of steps, and how many times each has recurred
    std::set<std::string> used_;
    std::int64_t step_cycles_ = 0;
};

/// A result of an earlier version as dlasim.result/2: each kind had a schema of its own, only layers and programs had a name, and the
/// phases of a unit were an object.
Json upgraded(Json result)
{
    if (text_at(result, "schema") == "dlasim.result/2" || !result.is_object()) return result;
    const bool loadable = value_at(result, "loadable").is_string();
    result["kind"] = value_at(result, "layer").is_object()     ? "layer"
                     : value_at(result, "network").is_object() ? "network"
                     : loadable                                ? "loadable"
                                                               : "program";
    if (loadable) result["name"] = std::filesystem::path(text_at(result, "loadable")).filename().string();
    else if (!result.contains("name")) result["name"] = text_at(result, "network/name");
    if (const Json phases = value_at(result, "units/cmac_a/phases"); phases.is_object()) result["units"]["cmac_a"] = phases;
    return result;
}

}  // namespace

RecordedRun recorded_run(const Json& given, const std::string& file)
{
    expect_kind(given, file, FileKind::Result);
    const Json result = upgraded(given);
    const std::string schema = text_at(result, "schema");
    if (!schema.starts_with("dlasim.") || value_at(result, "cycles").is_null())
        throw ConfigError(at(file, "/schema"),
                          found(value_at(result, "schema")) + ", expected the result.json of a run: of run, net, loadable or replay");
    return ResultReader(result, file).run();
}

RecordedRun read_recorded_run(const std::string& path)
{
    std::error_code none;
    std::filesystem::path file = path;
    if (std::filesystem::is_directory(file, none)) file /= "result.json";
    return recorded_run(read_json(file.string()), file.string());
}

}  // namespace dlasim
