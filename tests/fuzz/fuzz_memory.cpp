// Memories and settings as they stand on the command line; DRAM presets with their options are read to the end.
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "dram/read/reader.h"
#include "fuzz.h"

namespace dlasim {
namespace fuzz_memory {

using namespace fuzz;

std::vector<std::string> seeds()
{
    return {"ideal:latency=32,interval=1,write_latency=8",
            "ideal:command_interval=2,write_interval=3",
            "ddr4-2400:channels=2,mapping=bank_interleave",
            "lpddr4-3200:timing.tRCD=31,refresh=none",
            "lpddr5-6400:page_policy=closed_auto,controller.write_age=100",
            "ddr4-3200:base=0x80000000,wrap=true",
            "cbuf.banks=16",
            "mac.atomic_c=32"};
}

std::vector<std::string> words()
{
    return {"ideal",   "ddr4-2400",       "hbm2", "channels", "mapping", "timing.tRAS", "controller.read_queue", "organisation.rows", "=",
            "latency", "refresh.postpone"};
}

int input(const std::uint8_t* data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char*>(data), size);
    const bool setting = fuzz::taken_or_refused([&] { load_hardware("nv_large", {text}); }) == 0;
    const int memory = fuzz::taken_or_refused([&] {
        const MemorySpec spec = parse_memory(text);
        const std::string written = memory_text(spec);
        fuzz::expect(memory_text(parse_memory(written)) == written, "a memory read again is the same memory");
        if (dram::is_preset(spec.kind)) dram::read_config(spec);
    });
    return setting ? 0 : memory;
}

const Target target("memory", seeds, words, input);

}  // namespace fuzz_memory
}  // namespace dlasim
