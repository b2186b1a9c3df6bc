// What the host does for a frame between steps of the machine, in none of its cycles. It takes time where its cost was stated; a rate of
// frames without it says so.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/keys.h"

namespace dlasim {

struct HostWork {
    std::size_t steps = 0;
    std::uint64_t elements = 0;              // that they make
    std::optional<double> ns_per_element{};  // as stated

    void add(std::uint64_t made)
    {
        ++steps;
        elements += made;
    }
    /// None where nobody stated the cost.
    std::optional<double> seconds() const;
    /// Frames a second of a machine that takes `machine_seconds` for a frame, with what is known of the host.
    double frames_per_s(double machine_seconds) const;
    /// Note after such a rate: whether it includes CPU fallback. Empty where the host does nothing.
    std::string text() const;
};

nlohmann::ordered_json host_json(const HostWork& host);
std::vector<PlacedKey> host_keys();

}  // namespace dlasim
