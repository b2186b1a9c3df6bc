// A core whose evaluation is one call: advance() and horizon() are known where they are called, and no table of functions stands between.
//
//   struct SdpCore final : DirectCore<SdpCore> { advance, horizon, .. };
#pragma once
#include "links/core.h"

namespace dlasim {

template <class Self>
class DirectCore : public Core {
public:
    Cycle evaluate(Cycle to) final
    {
        Self& self = static_cast<Self&>(*this);
        self.Self::advance(to);
        return self.Self::horizon();
    }
};

}  // namespace dlasim
