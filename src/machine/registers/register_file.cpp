#include "registers/register_file.h"

#include "base/expects.h"
#include "registers/fields/groups.h"

namespace dlasim {
namespace {
using namespace reg::groups;
constexpr std::size_t kWindowWords = UnitRegisters::kWindow / 4;
constexpr std::uint32_t kNoRegister = UINT32_MAX;  // copies of register values must be refreshed
// Write accepted at the port to the start of the data path, at least: csb.md 2.1, decode and three flops.
constexpr Cycle kWriteToStart = 14;
}  // namespace

RegisterFile::RegisterFile(const UnitRegisters& unit, CsbLink& link) : unit_(unit), link_(link)
{
    link.registers = this;
    for (auto& group : values_) {
        group.assign(kWindowWords, 0);
        for (const RegisterRow& row : unit.rows) group[row.offset / 4] = row.reset;
    }
}

std::size_t RegisterFile::slot(std::uint32_t offset, unsigned group) const { return unit_.grouped(offset) ? group : 0; }

std::uint32_t RegisterFile::get(std::uint32_t offset, unsigned group) const { return values_[slot(offset, group)][offset / 4]; }

void RegisterFile::set(std::uint32_t offset, unsigned group, std::uint32_t value) { values_[slot(offset, group)][offset / 4] = value; }

void RegisterFile::perform(Cycle at)
{
    while (link_.request.available(at)) {
        const Cycle decode = link_.request.next();
        const CsbRequest request = link_.request.take();
        if (request.write) write(request.offset, request.data, decode);
        else link_.response.put(decode + 1, read(request.offset, decode));
    }
}

Cycle RegisterFile::start_cycle() const
{
    const Enable& enable = enable_[consumer_];
    if (!enable.on) return kNever;
    const Cycle visible = finished_once_ ? std::max(enable.at, done_ + 1) : enable.at;
    return visible + 3;
}

void RegisterFile::note_idle(WaitLog& log, Cycle from) const
{
    if (enabled()) log.works(from, Cause::StartUp);
    else log.idles(from, kWriteToStart);
}

void RegisterFile::finish(Cycle done)
{
    DLASIM_EXPECTS(enable_[consumer_].on);
    if (link_.uses) link_.uses->push_back({consumer_, enable_[consumer_].at, start_cycle(), done});
    enable_[consumer_] = {false, done + 1, true};
    consumer_ ^= 1;
    ++link_.finished;
    done_ = done;
    finished_once_ = true;
}

std::uint32_t RegisterFile::read(std::uint32_t offset, Cycle decode) const
{
    const RegisterRow* row = unit_.find(offset);
    if (!row) return 0;
    if (unit_.has_groups()) {
        const unsigned consumer = finished_once_ && decode <= done_ ? consumer_ ^ 1 : consumer_;
        if (offset == S_POINTER) return S_POINTER::PRODUCER.put(producer_) | S_POINTER::CONSUMER.put(consumer);
        if (offset == S_STATUS) {
            const auto status = [&](unsigned g) { return !enable_[g].in(decode) ? 0u : consumer == g ? 1u : 2u; };
            return S_STATUS::STATUS_0.put(status(0)) | S_STATUS::STATUS_1.put(status(1));
        }
        if (offset == unit_.group_start) return enable_[producer_].in(decode);
    }
    if (read_status)
        if (const auto value = read_status(offset, producer_, decode)) return *value;
    return get(offset, producer_) & row->read_mask;
}

std::optional<std::uint32_t> RegisterFile::peek(std::uint32_t offset, Cycle at) const
{
    const RegisterRow* row = unit_.find(offset);
    if (row && row->name == "S_LUT_ACCESS_DATA") return std::nullopt;  // it counts on
    return read(offset, at);
}

std::vector<std::uint32_t> RegisterFile::state() const
{
    std::vector<std::uint32_t> state;
    for (const auto& group : values_) state.insert(state.end(), group.begin(), group.end());
    state.push_back(producer_);
    state.push_back(consumer_);
    return state;
}

bool RegisterFile::restore(const std::vector<std::uint32_t>& state)
{
    if (!idle() || state.size() != 2 * kWindowWords + 2 || state[2 * kWindowWords] > 1 || state[2 * kWindowWords + 1] > 1) return false;
    for (std::size_t group = 0; group < 2; ++group)
        for (const RegisterRow& row : unit_.rows) values_[group][row.offset / 4] = state[group * kWindowWords + row.offset / 4];
    producer_ = state[2 * kWindowWords];
    consumer_ = state[2 * kWindowWords + 1];
    if (on_write) on_write(kNoRegister, 0, 0);
    return true;
}

void RegisterFile::write(std::uint32_t offset, std::uint32_t data, Cycle decode)
{
    const std::uint64_t number = writes_++;
    const RegisterRow* row = unit_.find(offset);
    if (!row || row->write_mask == 0) return;
    if (!unit_.grouped(offset)) {
        if (unit_.has_groups() && offset == S_POINTER) producer_ = S_POINTER::PRODUCER.get(data);
        else values_[0][offset / 4] = data & row->write_mask;
        if (on_write) on_write(offset, data, decode);
        return;
    }
    if (enable_[producer_].in(decode)) {  // a group that runs cannot be written
        if (dropped_.size() < kKeptDropped) dropped_.push_back({offset, data, producer_, number, decode});
        return;
    }
    if (offset == unit_.group_start) {
        if (D_OP_ENABLE::OP_EN.get(data)) enable_[producer_] = {true, decode + 1, false};
        return;
    }
    values_[producer_][offset / 4] = data & row->write_mask;
}

}  // namespace dlasim
