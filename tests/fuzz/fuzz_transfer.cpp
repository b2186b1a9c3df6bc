// Descriptors of what BDMA, Rubik and CDP do alone: read, planned, and their memory made where it is small.
#include "config/layer/transfer_reader.h"
#include "facts/presets.h"
#include "fuzz.h"
#include "lowering/transfer/transfer_plan.h"

namespace dlasim {
namespace fuzz_transfer {

using namespace fuzz;

std::vector<std::string> seeds()
{
    std::vector<std::string> all;
    for (const std::string& text : repository_files("models", ".json"))
        if (is_transfer(parse_json(text, "model"))) all.push_back(text);
    for (
        const char* text : {
            R"({ "op": "bdma", "blocks": [
               {"group": 0, "source": {"memory": "dbb", "address": 4096, "line_stride": 64, "surface_stride": 256},
                "destination": 65536, "line_bytes": 32, "lines": 2, "surfaces": 2},
               {"wait": true, "source": 65536, "destination": {"memory": "cvsram", "address": 0}, "line_bytes": 64}], "data": {"seed": 1} })",
            R"({ "op": "rubik", "rubik": {"mode": "contract", "stride": {"x": 2, "y": 2}}, "input": {"width": 7, "height": 3, "channels": 8},
               "precision": "int8", "placement": {"input": 4096, "output": {"memory": "cvsram", "address": 0}}, "data": {"seed": 1} })"})
        all.emplace_back(text);
    return all;
}

std::vector<std::string> words()
{
    return {"bdma", "rubik", "lrn", "size", "alpha", "split", "merge", "contract", "dbb", "cvsram", "int8", "int16", "fp16"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    return fuzz::taken_or_refused([&] {
        const std::string text(reinterpret_cast<const char*>(data), size);
        const Json json = parse_json(text, "t.json");
        if (!is_transfer(json)) throw ConfigError("t.json", "another operation");
        const Transfer transfer = transfer_from_json(json, "t.json", "", "");
        const std::string written = transfer_json(transfer).dump();
        fuzz::expect(transfer_json(transfer_from_json(parse_json(written, "again.json"), "again.json", "", "")).dump() == written,
                     "a transfer read again is the same transfer");
        const TransferPlan plan = plan_transfer(transfer, *find_preset("nv_full"));
        if (plan.bytes <= 1 << 16) transfer_contents(transfer, plan);
    });
}

const Target target("transfer", seeds, words, input);

}  // namespace fuzz_transfer
}  // namespace dlasim
