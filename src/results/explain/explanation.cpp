#include "explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr std::int64_t kParts = 10;

/// The client at the end of "memory: bandwidth: CDMA_WT"; empty if there is none.
std::string client_in(const std::string& name)
{
    const std::size_t first = name.find(": ");
    const std::size_t second = first == std::string::npos ? first : name.find(": ", first + 2);
    return second == std::string::npos ? "" : name.substr(second + 2);
}

void sort_amounts(Amounts& amounts)
{
    std::stable_sort(amounts.begin(), amounts.end(), [](const Amount& a, const Amount& b) { return a.value > b.value; });
}

class Totals {
public:
    void add(const Amounts& causes, const std::string& step = "")
    {
        for (const Amount& amount : causes) {
            const std::optional<Cause> cause = cause_called(amount.name);
            if (!cause) continue;
            CauseTotal& total = of_[static_cast<std::size_t>(*cause)];
            total.cycles += amount.value;
            if (const std::string client = client_in(amount.name); !client.empty()) put(total.clients, client, amount.value);
            if (!step.empty()) put(total.steps, step, amount.value);
        }
    }

    std::vector<CauseTotal> largest_first()
    {
        std::vector<CauseTotal> list;
        for (std::size_t i = 0; i < kCauses; ++i) {
            of_[i].cause = static_cast<Cause>(i);
            if (of_[i].cycles == 0) continue;
            sort_amounts(of_[i].clients);
            sort_amounts(of_[i].steps);
            list.push_back(std::move(of_[i]));
        }
        std::stable_sort(list.begin(), list.end(), [](const CauseTotal& a, const CauseTotal& b) { return a.cycles > b.cycles; });
        return list;
    }

private:
    static void put(Amounts& amounts, const std::string& name, std::int64_t value)
    {
        if (!amounts.empty() && amounts.back().name == name) amounts.back().value += value;
        else if (const auto there = std::find_if(amounts.begin(), amounts.end(), [&](const Amount& a) { return a.name == name; });
                 there != amounts.end())
            there->value += value;
        else amounts.push_back({name, value});
    }

    std::array<CauseTotal, kCauses> of_{};
};

std::int64_t number_at(const Json& json, const char* key)
{
    return json.is_object() && json.contains(key) && json[key].is_number_integer() ? json[key].get<std::int64_t>() : 0;
}

std::int64_t tensor_bytes(const Json& step, const char* tensor)
{
    return step.contains("tensors") && step["tensors"].is_object() && step["tensors"].contains(tensor)
               ? number_at(step["tensors"][tensor], "bytes")
               : 0;
}

/// Bytes of the convolution buffer; 0 if the result has none.
std::int64_t buffer_bytes(const RecordedRun& run)
{
    std::int64_t bytes = 1;
    for (const char* path : {"cbuf.banks", "cbuf.bank_depth", "cbuf.entry_bytes"}) {
        const auto there = run.hardware.find(path);
        if (there == run.hardware.end() || !there->second.is_number_integer()) return 0;
        const std::int64_t size = there->second.get<std::int64_t>();
        if (size < 0 || size > (1 << 20)) return 0;
        bytes *= size;
    }
    return bytes;
}

/// What is read more than once.
std::string read_again(const Json& step)
{
    std::string text;
    for (const char* tensor : {"input", "weights"}) {
        if (!step.contains("tensors") || !step["tensors"].is_object() || !step["tensors"].contains(tensor)) continue;
        const Json& read = step["tensors"][tensor];
        if (!read.is_object() || !read.contains("times") || !read["times"].is_number()) continue;
        if (const double times = read["times"].get<double>(); times > 1.005)
            text += fmt::format(" {} is read {:.2f} times.", tensor == std::string("input") ? "Input" : "Each weight", times);
    }
    return text;
}

/// Why a step is cut, if it is.
std::string cut_sentence(const RecordedRun& run, const Json& step)
{
    const std::int64_t operations = number_at(step, "operations"), input = tensor_bytes(step, "input"),
                       weights = tensor_bytes(step, "weights"), buffer = buffer_bytes(run);
    if (operations < 2 || !step.contains("cut") || step["cut"] != true) return "";
    std::string text = fmt::format("It is tiled into {} operations", operations);
    if (buffer != 0 && input + weights > buffer)
        text += fmt::format(": input of {} bytes and weights of {} do not fit CBUF's {} bytes", grouped(static_cast<std::uint64_t>(input)),
                            grouped(static_cast<std::uint64_t>(weights)), grouped(static_cast<std::uint64_t>(buffer)));
    return text + "." + read_again(step);
}

/// What holds a step up most beside its work, and how much that is.
std::string why_lost(const RecordedRun& run, const Json& step, const StepLoss& loss)
{
    std::string text;
    std::size_t named = 0;
    for (const CauseTotal& each : loss.causes) {
        const bool work = each.cause == Cause::Computing;
        if (work || named == 2 || each.cycles * 20 < loss.cycles) continue;
        text += named++ == 0 ? "Cycles go to " : ", ";
        text += cause_words(each.cause);
        if (!each.clients.empty()) text += " (" + each.clients.front().name + ")";
        text += fmt::format(" {}", grouped(static_cast<std::uint64_t>(each.cycles)));
    }
    if (!text.empty()) text += '.';
    const std::string cut = cut_sentence(run, step);
    return text.empty() || cut.empty() ? text + cut : text + " " + cut;
}

std::vector<CauseTotal> causes_of(const RecordedStep& step)
{
    Totals totals;
    totals.add(step.causes);
    return totals.largest_first();
}

/// Steps of the result that take part, in the order of run.steps.
std::vector<const Json*> steps_of(const Json& result)
{
    std::vector<const Json*> list;
    for (const char* key : {"steps", "operations"})
        if (result.contains(key) && result[key].is_array())
            for (const Json& step : result[key])
                if (key == std::string("operations") || (step.is_object() && step.contains("share") && !step["share"].is_null()))
                    list.push_back(&step);
    return list;
}

struct NamedBound {
    std::string name;
    std::int64_t cycles;
};
/// The largest lower bound of a run or a step; under its old name too.
std::optional<NamedBound> bound_of(const Json& json)
{
    if (json.contains("bound") && json["bound"].is_string())
        return NamedBound{json["bound"].get<std::string>(), number_at(json, "bound_cycles")};
    const Json old = json.value("binding_bound", Json());
    if (!old.is_object() || !old.contains("name") || !old["name"].is_string()) return std::nullopt;
    return NamedBound{old["name"].get<std::string>(), number_at(old, "cycles")};
}

std::vector<StepLoss> losses_of(const RecordedRun& run, const Json& result)
{
    const std::vector<const Json*> told = steps_of(result);
    std::vector<StepLoss> losses;
    for (std::size_t s = 0; s < run.steps.size() && s < told.size(); ++s) {
        const Json& step = *told[s];
        const std::optional<NamedBound> bound = bound_of(step);
        if (!bound) continue;
        StepLoss loss;
        loss.name = run.steps[s].name;
        loss.bound = bound->name;
        loss.cycles = run.steps[s].cycles;
        loss.least = std::clamp<std::int64_t>(bound->cycles, 0, loss.cycles);
        loss.causes = causes_of(run.steps[s]);
        loss.why = why_lost(run, step, loss);
        losses.push_back(std::move(loss));
    }
    std::stable_sort(losses.begin(), losses.end(), [](const StepLoss& a, const StepLoss& b) { return a.lost() > b.lost(); });
    return losses;
}

/// Steps of a network follow each other: what they add to the run, summed, is the time.
std::vector<RunPart> parts_of(const RecordedRun& run)
{
    std::vector<RunPart> list;
    std::int64_t now = 0;
    Totals totals;
    RunPart part;
    for (std::size_t s = 0; s < run.steps.size(); ++s) {
        if (part.first.empty()) part.first = run.steps[s].name;
        part.last = run.steps[s].name;
        totals.add(run.steps[s].causes);
        now += run.steps[s].cycles;
        const auto done = static_cast<std::int64_t>(list.size()) + 1;
        if (now * kParts < done * run.cycles && s + 1 < run.steps.size()) continue;
        part.to = now;
        part.causes = totals.largest_first();
        list.push_back(std::move(part));
        part = {};
        part.from = now;
        totals = {};
    }
    return list;
}

}  // namespace

std::string cause_words(Cause cause)
{
    const CauseName& name = name_of(cause);
    std::string words = std::string(name.group) + ": " + std::string(name.name);
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

Explanation explain(const Json& result, const std::string& file)
{
    Explanation explanation;
    explanation.run = recorded_run(result, file);
    const RecordedRun& run = explanation.run;
    if (run.causes.empty()) throw ConfigError(at(file, "/causes"), "is missing, expected a result of a run without --no-causes");
    const bool in_turn = result.contains("steps");  // operations of a file overlap: what they take does not add up
    Totals totals;
    if (in_turn)
        for (const RecordedStep& step : run.steps) totals.add(step.causes, step.name);
    else totals.add(run.causes);
    explanation.causes = totals.largest_first();
    std::int64_t sum = 0;
    for (const CauseTotal& total : explanation.causes) sum += total.cycles;
    if (sum != run.cycles)
        throw ConfigError(at(file, "/causes"), fmt::format("add up to {} cycles, expected {}: the file was changed", sum, run.cycles));
    if (const std::optional<NamedBound> bound = bound_of(result)) {
        explanation.bound = bound->name;
        explanation.least = bound->cycles;
    }
    if (const Json plan = result.value("plan", Json()); plan.is_object() && plan.contains("cut") && plan["cut"].is_string())
        explanation.cut = "It is tiled into " + plan["cut"].get<std::string>() + "." + read_again(plan);
    explanation.losses = losses_of(run, result);
    if (in_turn) explanation.parts = parts_of(run);
    return explanation;
}

}  // namespace dlasim
