<<<<<<< HEAD
dlasim_test(elements_law_test.cpp quick USES dlasim::rubik dlasim::elements)
=======
dlasim_test(elements_law_test.cpp quick USES dlasim::elements dlasim::links)
>>>>>>> 8e31aa8 (cdp: local response normalisation runs, cycle for cycle)
