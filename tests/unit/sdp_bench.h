// SDP alone on a bench: register writes as the bus delivers them, beats of CACC at given cycles, a
// memory interface that always takes and answers after fixed times.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "facts/presets.h"
#include "registers/fields/sdp.h"
#include "sdp_program.h"
#include "units/sdp/core.h"

namespace dlasim {

/// What a run showed.
struct SdpTrace {
    std::vector<std::pair<Cycle, Cycle>> write_valid, cacc_ready_low;  // [start, length]
    Cycle cacc_ready_active = 0;
    std::vector<WritePacket> packets;
    std::vector<std::pair<Cycle, std::uint32_t>> interrupts;
    std::vector<std::uint32_t> status;  // read-only registers of both groups at the end
    UnitReport report;
};

class SdpBench final : public Sleeper {
public:
    struct Beats {
        Cycle start = 0, length = 0;  // cycles in which CACC's valid is 1
    };

    explicit SdpBench(const Hardware& hw) : hardware_(hw), core_(make_sdp(hw, ports()))
    {
        csb_.request.reader = rdma_.request.reader = this;
        cacc_.connect(nullptr, this);
        for (WriteLink* link : {&write_, &write_cv_}) {
            link->request.connect(this, nullptr);
            link->complete.reader = this;
        }
        write_.request.valid_probe = &write_valid_;
        cacc_.set_ready_probe(&cacc_ready_);
        for (auto& link : reads_) {
            link.request.connect(this, nullptr);
            link.response.connect(nullptr, this);
        }
    }

    std::vector<SdpRegisterWrite> writes;
    std::vector<Beats> beats;
    std::vector<std::uint64_t> layer_beats;  // layer_end is on the last beat of each
    std::function<bool(Cycle)> write_ready = [](Cycle) { return true; };
    std::function<SumBeat(std::uint64_t)> sums = [](std::uint64_t) { return SumBeat{}; };
    std::function<std::uint8_t(std::uint64_t)> memory = [](std::uint64_t) { return std::uint8_t{0}; };
    Cycle read_latency = 40, answer_delay = 20;
    bool hold_refused = false;  // a beat that was refused stays; else valid is exactly as `beats` says

    SdpTrace run(Cycle length, bool stepping, Cycle from = 0)
    {
        SdpTrace trace;
        std::size_t next_write = 0, next_run = 0;
        std::uint64_t beat = 0, layer_left = layer_beats.empty() ? UINT64_MAX : layer_beats[0];
        std::size_t layer = 0;
        Cycle run_left = beats.empty() ? 0 : beats[0].length;
        std::map<Cycle, unsigned> answers;
        bool ready_was = true;
        for (Cycle c = 0; c < length; ++c) {
            const bool due = stepping || wake_ <= c;
            if (due) wake_ = kNever;
            // The bus.
            while (next_write < writes.size() && writes[next_write].decode <= c + 1) {
                const SdpRegisterWrite& w = writes[next_write++];
                (w.rdma ? rdma_ : csb_).request.put(std::max(w.decode, c + 1), {w.offset, w.data, true});
            }
            // Answers of memory.
            if (!answers.empty() && answers.begin()->first == c + 1) {
                write_.complete.put(c + 1, true);
                answers.erase(answers.begin());
            }
            if (write_.request.fires(c)) {
                const WritePacket& packet = write_.request.item(c);
                trace.packets.push_back(packet);
                if (packet.command) {
                    ack_ = packet.require_ack;
                    left_ = packet.atoms;
                } else if ((left_ -= packet.atoms) == 0 && ack_) answers[c + answer_delay] = 1;
            }
            write_.request.set_ready(c + 1, write_ready(c + 1));
            read_memory(c);
            // CACC: did the beat of this cycle move, and what is offered in the next?
            const bool moved = cacc_.fires(c);
            if (moved) {
                ++beat;
                if (--layer_left == 0) layer_left = ++layer < layer_beats.size() ? layer_beats[layer] : UINT64_MAX;
            }
            if (hold_refused) {
                // Every beat comes in its cycle or as soon as those before it have been taken.
                if (moved && --run_left == 0 && ++next_run < beats.size()) run_left = beats[next_run].length;
            } else {
                while (next_run < beats.size() && beats[next_run].start + beats[next_run].length <= c + 1) ++next_run;
            }
            const bool offer = next_run < beats.size() && beats[next_run].start <= c + 1;
            if (offer && (moved || !cacc_.valid(c))) {
                SumBeat item = sums(beat);
                item.layer_end = layer_left == 1;
                cacc_.offer(c + 1, item);
            } else if (!offer && cacc_.valid(c)) {
                cacc_.withdraw(c + 1);
            }
            if (due) {
                core_->advance(c);
                if (!stepping && core_->horizon() != kNever) wake_at(core_->horizon());
            }
            while (interrupt_.available(c)) {
                const Cycle at = interrupt_.next();
                trace.interrupts.emplace_back(at, interrupt_.take());
            }
            if (c >= from) {
                const bool ready = cacc_.ready(c);
                trace.cacc_ready_active += ready;
                if (!ready) {
                    if (ready_was) trace.cacc_ready_low.emplace_back(c, 0);
                    ++trace.cacc_ready_low.back().second;
                }
                ready_was = ready;
            }
        }
        for (const Probe::Run& r : write_valid_.runs(from, length)) trace.write_valid.emplace_back(r.start, r.length);
        trace.report = core_->report(length);
        read_status(trace, length);
        return trace;
    }
    Core& core() { return *core_; }

    void wake_at(Cycle at) override { wake_ = std::min(wake_, at); }

private:
    SdpPorts ports()
    {
        SdpPorts all{csb_, rdma_, cacc_, write_, hardware_.memory.has_secondary ? &write_cv_ : nullptr, {}, {}, interrupt_};
        for (unsigned i = 0; i < 4; ++i)
            if (i < 3 || hardware_.sdp.has_ew) all.read_mc[i] = &reads_[i];
        return all;
    }
    void read_status(SdpTrace& trace, Cycle at)
    {
        for (unsigned group = 0; group < 2; ++group) {
            csb_.request.put(at, {reg::sdp::S_POINTER, group, true});
            rdma_.request.put(at, {reg::sdp_rdma::S_POINTER, group, true});
            for (std::uint32_t offset = reg::sdp::D_STATUS; offset <= reg::sdp::D_PERF_LUT_LO_HIT; offset += 4)
                csb_.request.put(at, {offset, 0, false});
            for (std::uint32_t offset = reg::sdp_rdma::D_STATUS_NAN_INPUT_NUM; offset <= reg::sdp_rdma::D_PERF_ERDMA_READ_STALL;
                 offset += 4)
                rdma_.request.put(at, {offset, 0, false});
            core_->advance(at++);
        }
        for (CsbLink* link : {&csb_, &rdma_})
            while (link->response.available(at + 2)) trace.status.push_back(link->response.take());
    }
    /// Every reader has its own way to memory: a word a cycle, `read_latency` after the request.
    void read_memory(Cycle c)
    {
        const std::uint32_t atom = hardware_.memory.atom_bytes, per_beat = hardware_.atoms_per_beat();
        for (unsigned i = 0; i < 4; ++i) {
            ReadLink& link = reads_[i];
            while (link.credit.available(c)) link.credit.take();
            if (link.request.fires(c)) pending_[i].push_back({c + read_latency, link.request.item(c)});
            auto& queue = pending_[i];
            if (link.response.valid(c)) link.response.withdraw(c + 1);
            if (queue.empty() || queue.front().first > c + 1) continue;
            ReadRequest& request = queue.front().second;
            ReadBeat word;
            word.atoms = std::min(request.atoms, per_beat);
            for (std::uint32_t b = 0; b < word.atoms * atom; ++b) word.data[b] = memory(request.address.byte() + b);
            link.response.offer(c + 1, word);
            request.address += word.atoms * atom;
            if ((request.atoms -= word.atoms) == 0) queue.erase(queue.begin());
        }
    }

    Hardware hardware_;
    CsbLink csb_, rdma_;
    Channel<SumBeat> cacc_;
    WriteLink write_, write_cv_;
    std::array<ReadLink, 4> reads_;
    std::array<std::vector<std::pair<Cycle, ReadRequest>>, 4> pending_;
    Pulse<std::uint32_t> interrupt_;
    Probe write_valid_, cacc_ready_;
    std::unique_ptr<Core> core_;
    Cycle wake_ = 0;
    bool ack_ = false;
    std::uint32_t left_ = 0;
};

}  // namespace dlasim
