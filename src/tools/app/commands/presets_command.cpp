#include "app/commands/presets_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files/console.h"
#include "config/machine/hardware.h"
#include "config/machine/memory.h"
#include "dram/read/reader.h"
#include "facts/abilities.h"
#include "facts/presets.h"

namespace dlasim {
namespace {

void list_all()
{
    say("hardware (--hw)\n");
    for (const Hardware& hw : presets()) {
        const std::string port = hw.memory.has_secondary ? ", CVSRAM port" : "";
        say("  {:<20} {} x {} MACs, CBUF {} banks x {} x {} bytes, {}-byte atoms, {}-bit port{}{}\n", hw.name, hw.mac.atomic_c,
            hw.kernel_group(Precision::Int8), hw.cbuf.banks, hw.cbuf.bank_depth, hw.cbuf.entry_bytes, hw.memory.atom_bytes,
            8 * hw.memory.primary.width_bytes, port, facts::abilities(hw).words ? ", int8 int16 fp16, Winograd" : ", int8");
    }
    say("memory (--memory)\n");
    for (const std::string& name : memory_presets()) say("  {:<20} {}\n", name, memory_description(name));
}

}  // namespace

int presets_command(const std::string& name)
{
    if (name.empty()) {
        list_all();
        return 0;
    }
    if (const Hardware* hardware = find_preset(name)) {
        say("{}\n", hardware_json(*hardware).dump(2));
        return 0;
    }
    const auto& names = memory_presets();
    if (std::find(names.begin(), names.end(), name) != names.end()) {
        // a file that --memory takes, to be edited
        say("{}\n", dram::is_preset(name) ? dram::preset_text(name) : memory_json(parse_memory(name)).dump(2));
        return 0;
    }
    std::vector<std::string> known = names;
    for (const Hardware& hw : presets()) known.push_back(hw.name);
    throw ConfigError("presets", "unknown preset \"" + name + "\"" + suggest(name, known));
}

}  // namespace dlasim
