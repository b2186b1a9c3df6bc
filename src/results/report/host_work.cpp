#include "report/host_work.h"

#include <fmt/format.h>

#include <array>

#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr std::array kHostKeys{
    Key<HostWork>{{"steps", "integer", "steps", "of CPU fallback, per frame; they take no cycles"},
                  [](const HostWork& h) -> nlohmann::ordered_json { return h.steps; }},
    Key<HostWork>{{"elements", "integer", "elements", "that they compute"},
                  [](const HostWork& h) -> nlohmann::ordered_json { return h.elements; }},
    Key<HostWork>{{"seconds", "number or null", "s",
                   "at the cost per element given by `--host`; null without it: then frames per second exclude them"},
                  [](const HostWork& h) -> nlohmann::ordered_json {
                      const std::optional<double> seconds = h.seconds();
                      return seconds ? nlohmann::ordered_json(*seconds) : nlohmann::ordered_json();
                  }},
};

}  // namespace

std::optional<double> HostWork::seconds() const
{
    if (steps == 0) return 0.0;
    return ns_per_element ? std::optional(1e-9 * *ns_per_element * static_cast<double>(elements)) : std::nullopt;
}

double HostWork::frames_per_s(double machine_seconds) const
{
    const double all = machine_seconds + seconds().value_or(0);
    return all > 0 ? 1 / all : 0;
}

std::string HostWork::text() const
{
    if (steps == 0) return "";
    if (const std::optional<double> all = seconds()) return fmt::format(" with {:.3f} ms of CPU fallback", 1e3 * *all);
    return fmt::format(" without {} step{} of CPU fallback, {} elements (--host)", steps, steps == 1 ? "" : "s", grouped(elements));
}

nlohmann::ordered_json host_json(const HostWork& host) { return written(kHostKeys, host); }

std::vector<PlacedKey> host_keys() { return placed(kHostKeys, "host/"); }

}  // namespace dlasim
