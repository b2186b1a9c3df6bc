dlasim_test(elements_law_test.cpp quick USES dlasim::rubik dlasim::elements)
dlasim_test(chain_law_test.cpp quick USES dlasim::elements dlasim::links)
