#include "report/run_page.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "base/files/html_page.h"
#include "report/embedded.h"
#include "report/timeline/lanes.h"

namespace dlasim {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kTried = "<!-- tried -->";  // where the page has such sections
constexpr std::size_t kLaneBytes = 2'400'000;          // of all lanes, before base64
constexpr std::size_t kMaxParts = 400;                 // of the run, for what changes over it

OrderedJson lanes_json(const RunResult& run)
{
    const std::vector<Lane> lanes = lanes_of(run);
    std::vector<std::size_t> order(lanes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lanes[i].runs.size(); });
    OrderedJson list = OrderedJson::array();
    list.get_ref<OrderedJson::array_t&>().resize(lanes.size());
    std::size_t left = kLaneBytes, to_come = lanes.size();
    for (const std::size_t i : order) {  // what short ones do not need is for the others
        list[i] = lane_json(lanes[i], left / to_come--);
        left -= std::min(left, list[i]["data"].get_ref<const std::string&>().size() / 4 * 3);
    }
    return list;
}

/// Cycles by cause in parts of the run of the same length.
OrderedJson causes_json(const RunResult& run)
{
    if (run.causes.empty()) return nullptr;
    const Cycle width = std::max<Cycle>(1, (run.cycles + kMaxParts - 1) / kMaxParts);
    OrderedJson names = OrderedJson::array(), parts = OrderedJson::array();
    std::map<Cause, std::size_t> known;
    for (Cycle from = 0; from < run.cycles; from += width) {
        std::vector<Cycle> spent(known.size());
        for (const CauseCycles& cause : run.causes.between(from, std::min(from + width, run.cycles))) {
            const auto [at, fresh] = known.try_emplace(cause.cause.cause, known.size());
            if (fresh) {
                names.push_back({name_of(at->first).group, name_of(at->first).name});
                spent.push_back(0);
            }
            spent[at->second] += cause.cycles;
        }
        parts.push_back(spent);
    }
    return {{"width", width}, {"names", names}, {"parts", parts}};
}

}  // namespace

std::string run_page(const RunResult& run, const RunPage& page)
{
    OrderedJson steps = OrderedJson::array();
    for (const Span& span : page.spans) steps.push_back({span.name, span.start, span.done});
    const MeasuredWords words = measured_words(page.result.value("measured", false));
    const OrderedJson data{
        {"name", page.name},     {"command", page.command},         {"cycles", run.cycles},          {"interrupts", run.interrupt_cycles},
        {"steps", steps},        {"lanes", lanes_json(run)},        {"over_time", causes_json(run)}, {"parts", parts_json(page.parts)},
        {"result", page.result}, {"explanation", page.explanation}, {"badge", words.badge},          {"measured", words.sentence}};
    std::string text = page_begin(page.name, page.tried_styles + embedded(run_page_files(), "run.css"));
    std::string body = embedded(run_page_files(), "run.html");
    body.replace(body.find(kTried), kTried.size(), page.tried);
    text += body;
    text += page_charts();
    text += "<script type=\"application/json\" id=\"run\">";
    text += script_json(data);
    text += "</script>\n<script>\n";
    text += embedded(run_page_files(), "run.js");
    text += "</script>\n";
    text += page_end();
    return text;
}

}  // namespace dlasim
