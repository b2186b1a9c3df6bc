#include "dram/check/stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace dlasim::dram {

std::vector<std::string> pattern_names()
{
    return {"sequential", "sequential_write", "random", "random_write", "mixed", "strided", "latency"};
}

Pattern make_pattern(const std::string& name, const Config& config, std::uint64_t stride)
{
    // The published figures were taken with steps of 64 bytes whatever the burst (dram.md 10.3).
    const bool reference = config.controller.profile == Profile::Reference;
    const std::uint64_t burst = reference ? 64 : config.organisation.request_bytes(), capacity = config.organisation.capacity_bytes();
    const bool writes = name.ends_with("_write");
    if (name == "sequential" || name == "sequential_write") return [=](std::uint64_t i) { return Access{i * burst % capacity, writes}; };
    if (name == "strided") {
        if (stride == 0) throw ConfigError("stride", "a strided pattern needs a stride in bytes");
        return [=](std::uint64_t i) { return Access{i * stride % capacity, false}; };
    }
    if (name == "random" || name == "random_write" || name == "latency")
        return [=, x = std::uint64_t{1}](std::uint64_t) mutable {
            x = x * 6364136223846793005u + 1442695040888963407u;
            return Access{(x >> 33) % (1u << 24) * burst % capacity, writes};
        };
    if (name == "mixed") return [=](std::uint64_t i) { return Access{(burst * i + (i % 3 == 2 ? 1u << 28 : 0)) % capacity, i % 3 == 2}; };
    throw ConfigError(name, fmt::format("is no pattern; there are {}", fmt::join(pattern_names(), ", ")));
}

std::vector<Statistics> run_stream(const Config& config, const Pattern& pattern, const StreamRun& run)
{
    std::vector<std::unique_ptr<Channel>> channels;
    for (std::uint32_t c = 0; c < config.organisation.channels; ++c) {
        channels.push_back(make_channel(config));
        if (run.observer)
            channels.back()->observe([&run, c](const Issued& issued) {
                Issued with_channel = issued;
                with_channel.at.channel = c;
                run.observer(with_channel);
            });
    }
    std::uint64_t sent = 0, outstanding = 0;
    Access access = pattern(0);
    Location at = config.mapping.locate(access.address);
    Cycle earliest = 0;  // of the next request
    Cycle now = 0;
    while (now < run.cycles) {
        Cycle answer = kNever;
        for (auto& channel : channels) {
            channel->advance(now);
            for (; !channel->completed().empty(); channel->completed().pop_front()) {
                if (run.one_at_a_time) answer = channel->completed().front().at;
            }
        }
        if (run.one_at_a_time && answer != kNever) {
            outstanding = 0;
            earliest = std::max(earliest, answer);
        }
        std::size_t budget =
            run.interval != 0 || run.one_at_a_time || config.controller.profile == Profile::Reference ? 1 : channels.size();
        while (budget-- != 0 && now >= earliest && outstanding == 0 && channels[at.channel]->can_accept(access.write)) {
            channels[at.channel]->push({sent, at, access.write, access.address}, now);
            access = pattern(++sent);
            at = config.mapping.locate(access.address);
            earliest = std::max(earliest, now + run.interval);
            if (run.one_at_a_time) outstanding = 1;
        }
        Cycle next = now + 1;
        const bool blocked = outstanding != 0 || !channels[at.channel]->can_accept(access.write);
        if (!run.stepping && (blocked || earliest > now + 1)) {
            next = run.cycles;
            for (auto& channel : channels) next = std::min(next, channel->horizon());
            if (!blocked) next = std::min(next, earliest);
            next = std::max(next, now + 1);
        }
        now = next;
    }
    std::vector<Statistics> all;
    for (auto& channel : channels) {
        channel->advance(run.cycles - 1);
        all.push_back(channel->statistics(run.cycles));
    }
    return all;
}

}  // namespace dlasim::dram
