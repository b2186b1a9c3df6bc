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

/// Elements [first, first + count) of an atom. Channels outside the cube are 0.
void Values::convert(const Atom& atom, std::uint32_t surface, std::uint32_t first, std::uint32_t count, std::int32_t* x) const
{
    const std::uint32_t channel = surface * lanes_of_atom_ + first, there = channel < cube_.channels ? cube_.channels - channel : 0;
    const std::uint32_t real = std::min(count, there);
    lanes_.convert(atom.data() + first * (atom_bytes_ / lanes_of_atom_), real, x);
    std::fill(x + real, x + count, 0);
}

void Values::pass(const Pass& pass)
{
    if (!on_) return;
    constexpr std::uint32_t kMaxLanes = kMaxBeatBytes, kReach = kCdpReach;
    std::int32_t window[kMaxLanes + 2 * kReach];
    std::int32_t* const x = window + kReach;
    for (std::uint32_t pixel = 0; pixel < pass.pixels; ++pixel) {
        const std::size_t place = std::size_t{pass.surface} * pass.pixels + pixel;
        if (pass.surface == 0) std::fill(window, x, 0);
        else convert(atoms_[place - pass.pixels], pass.surface - 1, lanes_of_atom_ - kReach, kReach, window);
        convert(atoms_[place], pass.surface, 0, lanes_of_atom_, x);
        if (pass.last_surface) std::fill(x + lanes_of_atom_, x + lanes_of_atom_ + kReach, 0);
        else convert(atoms_[place + pass.pixels], pass.surface + 1, 0, kReach, x + lanes_of_atom_);
        lanes_.compute(x, lanes_of_atom_, out_[pixel].data());
        elements_ += lanes_of_atom_;
    }
    if (!pass.last_surface) return;
    for (std::uint32_t i = 0; i < cube_.surfaces * pass.pixels; ++i) atoms_.pop_front();
}

}  // namespace dlasim::cdp
