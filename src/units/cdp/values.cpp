#include "units/cdp/values.h"

#include <algorithm>
#include <cstring>

namespace dlasim::cdp {

using numerics::kCdpReach;

void Values::start(const Cube& cube, const numerics::CdpConfig& config, const numerics::LutTables& tables)
{
    if (!on_) return;
    cube_ = cube;
    lanes_of_atom_ = atom_bytes_ / static_cast<std::uint32_t>(config.element_bytes());
    elements_ = 0;
    lanes_.start(config, tables);
}

void Values::arrive(const ReadBeat& word)
{
    if (!on_) return;
    for (std::uint32_t i = 0; i < word.atoms; ++i) std::memcpy(atoms_.extend().data(), word.data.data() + i * atom_bytes_, atom_bytes_);
}

/// Channels outside the cube are 0.
void Values::convert(const Atom& atom, std::uint32_t surface, std::int32_t* x) const
{
    const std::uint32_t first = surface * lanes_of_atom_, there = first < cube_.channels ? cube_.channels - first : 0;
    const std::uint32_t count = std::min(lanes_of_atom_, there);
    lanes_.convert(atom.data(), count, x);
    std::fill(x + count, x + lanes_of_atom_, 0);
}

void Values::pass(const Pass& pass)
{
    if (!on_) return;
    constexpr std::size_t kMostLanes = 32;
    std::int32_t before[kMostLanes], here[kMostLanes + 2 * kCdpReach], behind[kMostLanes];
    std::int32_t* const x = here + kCdpReach;
    for (std::uint32_t pixel = 0; pixel < pass.pixels; ++pixel) {
        const std::size_t place = std::size_t{pass.surface} * pass.pixels + pixel;
        std::fill(here, here + kCdpReach, 0);
        if (pass.surface != 0) {
            convert(atoms_[place - pass.pixels], pass.surface - 1, before);
            std::copy(before + lanes_of_atom_ - kCdpReach, before + lanes_of_atom_, here);
        }
        convert(atoms_[place], pass.surface, x);
        std::fill(x + lanes_of_atom_, x + lanes_of_atom_ + kCdpReach, 0);
        if (!pass.last_surface) {
            convert(atoms_[place + pass.pixels], pass.surface + 1, behind);
            std::copy(behind, behind + kCdpReach, x + lanes_of_atom_);
        }
        lanes_.compute(x, lanes_of_atom_, out_[pixel].data());
        elements_ += lanes_of_atom_;
    }
    if (!pass.last_surface) return;
    for (std::uint32_t i = 0; i < cube_.surfaces * pass.pixels; ++i) atoms_.pop_front();
}

}  // namespace dlasim::cdp
