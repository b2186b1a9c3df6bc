// Hardware files: read, and two layers planned on the machine they describe.
#include "config/layer/layer_reader.h"
#include "config/machine/hardware.h"
#include "config/model/tensors.h"
#include "facts/presets.h"
#include "fuzz.h"
#include "lowering/plan.h"

namespace dlasim {
namespace fuzz_hardware {

using namespace fuzz;

std::vector<std::string> seeds()
{
    std::vector<std::string> all;
    for (const Hardware& hardware : presets()) all.push_back(hardware_json(hardware).dump());
    all.emplace_back(R"({"preset": "nv_small", "mac": {"atomic_c": 16}, "cbuf": {"banks": 16}})");
    return all;
}

std::vector<std::string> words()
{
    std::vector<std::string> all{"nv_full", "nv_small", "nv_large", "full", "configurable"};
    for (const HardwareField& field : hardware_fields()) all.push_back(field.path.substr(field.path.rfind('.') + 1));
    return all;
}

int input(const std::uint8_t* data, std::size_t size)
{
    static const char* const kLayers[] = {
        R"({"input": {"width": 9, "height": 7, "channels": 12}, "kernel": {"width": 3, "height": 3, "count": 10}, "post": {"bias": true}})",
        R"({"op": "sdp", "input": {"width": 5, "height": 3, "channels": 40}, "post": {"ew": {"alu": {"per": "element"}}}})"};
    return fuzz::taken_or_refused([&] {
        const std::string text(reinterpret_cast<const char*>(data), size);
        const Hardware hardware = read_hardware(parse_json(text, "hw.json"), "hw.json", "");
        const std::string written = hardware_json(hardware).dump();
        fuzz::expect(hardware_json(read_hardware(parse_json(written, "again.json"), "again.json", "")).dump() == written,
                     "a machine read again is the same machine");
        for (const char* text_of_layer : kLayers)
            fuzz::taken_or_refused([&] {
                const Layer layer = layer_from_json(parse_json(text_of_layer, "l.json"), "l.json", "", "");
                plan_layer(layer, hardware, load_tensors(layer));
            });
    });
}

const Target target("hardware", seeds, words, input);

}  // namespace fuzz_hardware
}  // namespace dlasim
