// Random points of the design space as a user writes them: settings of a machine and options of a DRAM, legal or not. The same
// seed is the same point everywhere.
#pragma once
#include <random>
#include <string>
#include <vector>

#include "config/machine/hardware.h"
#include "dram/read/reader.h"
#include "facts/presets.h"

namespace dlasim {

class PointMaker {
public:
    explicit PointMaker(std::mt19937& random) : random_(random) {}

    std::string preset()
    {
        const auto all = presets();
        return all[in(0, static_cast<std::uint32_t>(all.size()) - 1)].name;
    }

    /// What --set is given: half of the machines are built by the rules, the others by chance.
    std::vector<std::string> machine(const std::string& preset)
    {
        std::vector<std::string> settings;
        const bool full = preset == "nv_full";
        const auto set = [&](const std::string& path, std::uint32_t value) { settings.push_back(path + "=" + std::to_string(value)); };
        if (!full && one_in(2)) {
            const std::uint32_t k = 8u << in(0, 3), ratio = 1u << in(0, 2);
            set("mac.atomic_c", k * ratio);
            set("mac.atomic_k", k);
            set("memory.primary.burst_beats", 1u << in(0, 2));
            set("sdp.bs_throughput", 1u << in(0, 3));
            set("sdp.bn_throughput", 1u << in(0, 3));
        }
        if (full && one_in(3)) set("mac.atomic_c", 32);
        if (one_in(2)) set("cbuf.banks", in(2, full ? 16 : 32));
        if (one_in(2)) set("cbuf.bank_depth", 32u << in(0, 5));
        if (!full && one_in(3)) set("memory.fifo_cover_cycles", one_in(4) ? in(1, 4096) : in(1, 256));
        static const char* const kClients[] = {"bdma", "sdp", "rubik", "sdp_bs", "sdp_bn", "sdp_ew", "cdma_data", "cdma_weight"};
        for (const char* client : kClients)
            if (one_in(4)) set(std::string("fabric.read_credit.") + client, one_in(16) ? in(0, 300) : client[0] == 'c' ? 0 : in(4, 12));
        const std::vector<HardwareField>& fields = hardware_fields();
        for (std::uint32_t n = one_in(4) ? in(1, 2) : 0; n > 0; --n) {
            const HardwareField& field = fields[in(0, static_cast<std::uint32_t>(fields.size()) - 1)];
            if (field.flag) settings.push_back(field.path + (one_in(2) ? "=true" : "=false"));
            else set(field.path, one_in(2) ? 1u << in(0, 10) : in(0, 64));
        }
        return settings;
    }

    /// What --memory is given.
    std::string dram()
    {
        static const char* const kDevices[] = {"ddr4-2400", "ddr4-3200", "lpddr4-3200", "lpddr5-6400", "hbm2"};
        const std::string device = kDevices[in(0, 4)];
        const dram::Config config = dram::read_config(device);
        std::vector<std::pair<std::string, std::string>> options;
        const auto set = [&](const std::string& name, const std::string& value) {
            for (const auto& [known, before] : options)
                if (known == name) return;
            options.emplace_back(name, value);
        };
        const auto pick = [&](const std::string& name, const std::vector<std::string>& values) {
            set(name, values[in(0, static_cast<std::uint32_t>(values.size()) - 1)]);
        };
        if (one_in(2)) pick("channels", {"1", "2", "4", "8", "16"});
        if (one_in(2))
            pick("mapping",
                 {"bg_interleave", "bank_interleave", "bg_lsb", "page_xor", "rorabacobgch", "rochrababgco", "RoBaRaCoCh", "ChRaBaRoCo"});
        if (one_in(2)) pick("refresh", {"all_bank_staggered", "all_bank_simultaneous", "per_bank", "none"});
        if (one_in(2)) pick("page_policy", {"open", "closed_auto", "closed_cap", "open_adaptive", "closed_adaptive", "timeout"});
        if (one_in(3)) set("controller.page_limit", std::to_string(in(1, 64)));
        if (one_in(3)) set("controller.read_queue", std::to_string(in(1, 64)));
        if (one_in(3)) {
            const std::uint32_t queue = in(1, 64), high = in(1, queue);
            set("controller.write_queue", std::to_string(queue));
            set("controller.write_high", std::to_string(high));
            set("controller.write_low", std::to_string(in(0, high)));
        }
        for (const char* age : {"controller.write_age", "controller.read_age", "controller.hit_cap"})
            if (one_in(5)) set(age, std::to_string(one_in(2) ? in(1, 16) : in(1, 5000)));
        if (one_in(5)) set("controller.power_down_after", std::to_string(in(0, 200)));
        if (one_in(5)) set("controller.self_refresh_after", std::to_string(in(0, 5000)));
        if (one_in(4)) set("refresh.postpone", std::to_string(in(0, 8)));
        if (one_in(4)) set("tCK_ns", std::to_string(in(3, 50) / 10.0));
        if (one_in(4))
            pick(std::string("organisation.") + std::vector<std::string>{"bus_bits", "bank_groups", "banks", "burst_length",
                                                                         "transfers_per_cycle", "columns", "channel_mib"}[in(0, 6)],
                 {"1", "2", "4", "8", "16", "32", "64", "128", "1024", "2048", "16384"});
        for (std::uint32_t n = one_in(2) ? 0 : in(1, 4); n > 0; --n) {
            auto row = config.timing.begin();
            std::advance(row, in(0, static_cast<std::uint32_t>(config.timing.size()) - 1));
            set("timing." + row->first, std::to_string(one_in(3) ? in(0, 100) : row->second * in(1, 6) / 3));
        }
        std::string text = device;
        for (const auto& [name, value] : options) text += (text == device ? ":" : ",") + name + "=" + value;
        return text;
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }
    bool one_in(std::uint32_t n) { return in(1, n) == 1; }
    std::mt19937& random_;
};

}  // namespace dlasim
