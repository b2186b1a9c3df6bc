#include "report/timeline/lanes.h"

#include <algorithm>
#include <array>

namespace dlasim {
namespace {

void put(std::string& bytes, std::uint64_t number)
{
    for (; number >= 128; number >>= 7) bytes += static_cast<char>(number | 128);
    bytes += static_cast<char>(number);
}

std::string base64(const std::string& bytes)
{
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0u; };
        const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
        for (unsigned digit = 0; digit < 4; ++digit) text += i + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
    }
    return text;
}

constexpr std::uint64_t kMixed = 7;

/// Takes consecutive runs of cycles, and writes the phases of every grain.
class GrainWriter {
public:
    GrainWriter(std::uint64_t grain, std::size_t most) : grain_(grain), most_(most) {}

    void take(std::uint64_t cycles, Phase phase)
    {
        while (cycles != 0 && !full()) {
            Spent whole{};
            whole[static_cast<std::size_t>(phase)] = grain_;
            if (filled_ == 0 && cycles >= grain_) {
                write(cycles / grain_, whole);
                cycles %= grain_;
                continue;
            }
            const std::uint64_t part = std::min(cycles, grain_ - filled_);
            now_[static_cast<std::size_t>(phase)] += part;
            filled_ += part;
            cycles -= part;
            if (filled_ == grain_) end_grain();
        }
    }
    std::string take_all()
    {
        if (filled_ != 0) end_grain();
        write_run();
        return std::move(bytes_);
    }
    bool full() const { return bytes_.size() > most_; }

private:
    using Spent = std::array<std::uint64_t, kPhases>;

    void end_grain()
    {
        write(1, now_);
        now_ = {};
        filled_ = 0;
    }
    void write(std::uint64_t grains, const Spent& spent)
    {
        if (spent != spent_) write_run();
        spent_ = spent;
        grains_ += grains;
    }
    void write_run()
    {
        if (grains_ == 0) return;
        const auto whole = std::ranges::find(spent_, grain_);
        if (whole != spent_.end()) {
            put(bytes_, grains_ * 8 + static_cast<std::uint64_t>(whole - spent_.begin()));
        } else {
            put(bytes_, grains_ * 8 + kMixed);
            for (std::size_t phase = 0; phase < static_cast<std::size_t>(Phase::Gated); ++phase) put(bytes_, spent_[phase]);
        }
        grains_ = 0;
    }

    std::uint64_t grain_;
    std::size_t most_;
    std::string bytes_;
    Spent now_{}, spent_{};  // in the grain under way; in each of those not written yet
    std::uint64_t filled_ = 0, grains_ = 0;
};

std::string packed(const Lane& lane, std::uint64_t grain, std::size_t most)
{
    GrainWriter writer(grain, most);
    std::int64_t at = lane.runs.front().start;
    for (const PhaseRun& run : lane.runs) {
        if (run.start > at) writer.take(static_cast<std::uint64_t>(run.start - at), Phase::Gated);
        writer.take(run.cycles, run.phase);
        at = run.start + static_cast<std::int64_t>(run.cycles);
        if (writer.full()) break;
    }
    return writer.take_all();
}

}  // namespace

std::vector<Lane> lanes_of(const RunResult& run)
{
    std::vector<Lane> lanes;
    for (const UnitPhases& unit : run.phases)
        if (!unit.runs.empty()) lanes.push_back({unit.unit, unit.runs});
    for (const ProbeEvents& client : run.clients) {
        Lane& lane = lanes.emplace_back();
        lane.name = client.name;
        for (const auto& [start, cycles] : client.runs) lane.runs.push_back({start, cycles, Phase::Issuing});
    }
    return lanes;
}

nlohmann::ordered_json lane_json(const Lane& lane, std::size_t most)
{
    std::uint64_t grain = 1;
    std::string bytes = packed(lane, grain, most);
    while (bytes.size() > most) bytes = packed(lane, grain *= 2, most);
    return {{"name", lane.name}, {"grain", grain}, {"from", lane.runs.front().start}, {"data", base64(bytes)}};
}

}  // namespace dlasim
