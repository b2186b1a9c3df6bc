#include "units/sdp/write_commands.h"

namespace dlasim::sdp {

void WriteCommands::start(const LayerConfig& layer)
{
    *this = {};
    more_ = true;
    atom_ = layer.atom;
    mask_ = layer.address_mask;
    width_ = layer.width;
    halves_ = layer.widening ? 2 : 1;
    // In 8to16 a command takes one beat a pixel: its token gets both halves of one pixel.
    beats_per_atom_ = layer.beats_per_atom;
    surfaces_ = layer.surfaces;
    surface_ = line_ = layer.base;
    if (layer.single) {
        single_atoms_ = layer.surfaces * halves_;
        return;
    }
    line_stride_ = layer.line_stride;
    surface_step_ = layer.surface_stride * halves_;
    half_stride_ = layer.surface_stride;
    rows_ = layer.winograd ? 4 : 1;
    heights_ = std::max(1u, layer.height / rows_);
    height_step_ = line_stride_ * rows_;
    batches_ = layer.batch;
    batch_stride_ = layer.batch_stride;
    lines_ = !layer.winograd && batches_ == 1 && halves_ == 1;
    aligned_ = !lines_ && !layer.winograd;
}

WriteCommand WriteCommands::next()
{
    WriteCommand command;
    if (single_atoms_) {
        command = {surface_, single_atoms_, single_atoms_ * beats_per_atom_, true};
        more_ = false;
        return command;
    }
    const bool odd = aligned_ && ((line_ / atom_ + x_) & 1);
    const std::uint32_t left = width_ - x_;
    const std::uint32_t atoms = lines_ ? left : odd ? 1 : std::min(2u, left);
    command.address = (line_ + row_ * line_stride_ + std::uint64_t{x_} * atom_ + b_ * batch_stride_ + e_ * half_stride_) & mask_;
    command.atoms = atoms;
    command.beats = atoms * beats_per_atom_;

    if (step(e_, halves_) && step(b_, batches_) && step(row_, rows_)) {
        x_ += atoms;
        if (x_ >= width_) {
            x_ = 0;
            line_ += height_step_;
            if (step(h_, heights_)) {
                surface_ += surface_step_;
                line_ = surface_;
                more_ = !step(s_, surfaces_);
            }
        }
    }
    command.last = !more_;
    return command;
}

}  // namespace dlasim::sdp
